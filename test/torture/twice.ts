import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import { EXIT, type ErrorReport } from "../../src/base/errors.ts";
import { runJson, runPml, spawnPml, until } from "../support/pml.ts";
import { registerCleanup } from "./cleanup.ts";
import { inspect } from "./inspection.ts";
import { Ledger } from "./ledger.ts";
import { tryToOwn } from "./owners.ts";
import type { Cell, TortureCase } from "./torture-case.ts";
import { makeWorkFolder } from "./work-folder.ts";
import { WriterProcess } from "./writer-process.ts";

export const twice: TortureCase = {
  name: "twice",
  promise: "a second opener of a directory is refused with store_busy, and told by whom and what to do",
  defaultRounds: 3,
  async run({ rounds, say }) {
    const checks = new Checks();
    for (let round = 1; round <= rounds; round += 1) {
      using folder = makeWorkFolder("twice");
      await refuseInSameProcess(join(folder.path, "same"), checks);
      await refuseOtherProcess(join(folder.path, "other"), checks);
      await refuseSecondServe(join(folder.path, "serve"), checks);
      await raceToServe(join(folder.path, "race"), checks);
      say(`round ${round}/${rounds}: ${checks.problems.length} problems`);
    }
    return { holds: checks.problems.length === 0, problems: checks.problems, table: checks.table };
  },
};

/** Counts checks by name and records the failed ones. */
class Checks {
  readonly problems: string[] = [];
  readonly #counts = new Map<string, { held: number; failed: number }>();

  expect(name: string, holds: boolean, found: unknown): void {
    const count = this.#counts.get(name) ?? { held: 0, failed: 0 };
    this.#counts.set(name, count);
    count[holds ? "held" : "failed"] += 1;
    if (!holds) this.problems.push(`${name}: found ${JSON.stringify(found)}`);
  }

  get table(): Record<string, Cell>[] {
    return [...this.#counts].map(([check, { held, failed }]) => ({ check, held, failed }));
  }
}

async function refuseInSameProcess(home: string, checks: Checks): Promise<void> {
  using _ownership = acquireOwnership(home);
  const refusal = tryToOwn(home);
  checks.expect("same process: store_busy", refusal?.code === "store_busy", refusal?.code);
  // Closing any descriptor of a file can drop all locks a process has on it: the refusal must not.
  const { code, error } = await tryToServe(home);
  checks.expect("same process: still locked afterwards", code === EXIT.failed && error?.code === "store_busy", error);
}

async function refuseOtherProcess(home: string, checks: Checks): Promise<void> {
  mkdirSync(home, { recursive: true });
  const ledger = new Ledger(join(home, "ledger"));
  const writer = new WriterProcess({ home, ledgerPath: ledger.path, engine: "ours" });
  await writer.firstAck();
  const refusal = tryToOwn(home);
  checks.expect("other process: store_busy", refusal?.code === "store_busy", refusal?.code);
  const says = `${refusal?.message} ${refusal?.hint}`;
  const clear = says.includes(home) && says.includes(`pid ${writer.pid}`) && says.includes("PML_HOME=");
  checks.expect("other process: names directory, pid and way out", clear, says);
  const inspection = await inspect({ home, ledgerPath: ledger.path, engine: "ours" });
  checks.expect("third process: refused", !inspection.opened && inspection.reason.includes("is owned by"), inspection);
  await writer.kill();
  checks.expect("killed owner: lock is free at once", tryToOwn(home) === undefined, tryToOwn(home)?.message);
  ledger.add(writer.acknowledged);
  const after = await inspect({ home, ledgerPath: ledger.path, engine: "ours" });
  checks.expect("killed owner: all is there", after.opened && after.findings.lost === 0, after);
}

async function refuseSecondServe(home: string, checks: Checks): Promise<void> {
  mkdirSync(home, { recursive: true });
  const first = serve(home);
  await untilRunning(home);
  const second = await runPml(["serve"], { home });
  checks.expect("second serve: exit 1", second.code === EXIT.failed, second.code);
  const clear = second.stderr.includes(`pid ${first.pid}`) && second.stderr.includes("PML-E2001");
  checks.expect("second serve: names the pid and the error", clear, second.stderr);
  checks.expect("second serve: says what to do", second.stderr.includes("pml down"), second.stderr);
  const { error } = await tryToServe(home);
  checks.expect("second serve --json: store_busy", error?.code === "store_busy", error);
  const { pid } = await runJson<{ pid: number }>(["status"], { home });
  checks.expect("second serve: the first goes on", pid === first.pid, pid);
  await first.end();
}

const CONTENDERS = 4;

async function raceToServe(home: string, checks: Checks): Promise<void> {
  mkdirSync(home, { recursive: true });
  const contenders = Array.from({ length: CONTENDERS }, () => serve(home));
  await until("all but one have given up", () => contenders.filter(({ running }) => running).length <= 1, 60_000);
  await untilRunning(home);
  const left = contenders.filter(({ running }) => running);
  const { pid } = await runJson<{ pid: number }>(["status"], { home });
  const pids = left.map((contender) => contender.pid);
  checks.expect(`${CONTENDERS} at once: one serves`, pids.length === 1 && pids[0] === pid, { pids, pid });
  for (const contender of left) await contender.end();
}

async function tryToServe(home: string): Promise<{ code: number | null; error: ErrorReport | undefined }> {
  const { code, stdout } = await runPml(["serve", "--json"], { home });
  const document = JSON.parse(stdout || "{}") as { error?: ErrorReport };
  return { code, error: document.error };
}

async function untilRunning(home: string): Promise<void> {
  await until("pml serve answers", async () => (await runPml(["status"], { home })).code === EXIT.ok, 60_000);
}

interface ServingProcess {
  readonly pid: number;
  readonly running: boolean;
  end(): Promise<void>;
}

function serve(home: string): ServingProcess {
  const child = spawnPml(["serve"], { home });
  child.stdout?.resume();
  child.stderr?.resume();
  const cleanup = registerCleanup(() => child.kill("SIGKILL"));
  const closed = once(child, "exit");
  return {
    pid: child.pid ?? 0,
    get running() {
      return child.exitCode === null && child.signalCode === null;
    },
    async end() {
      child.kill("SIGTERM");
      await closed;
      cleanup[Symbol.dispose]();
    },
  };
}
