import { join } from "node:path";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, until } from "../support/pml.ts";
import { registerCleanup } from "./cleanup.ts";
import { AskingClient, Importer } from "./daemon-load.ts";
import { findDaemons, findOwners, killCommands, tryToOwn } from "./owners.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../support/random.ts";
import { countImportedRows, ROWS_PER_IMPORT } from "./small-export.ts";
import { cannotRun, type CaseOptions, type CaseOutcome, type TortureCase } from "./torture-case.ts";
import { makeWorkFolder } from "./work-folder.ts";

export const handover: TortureCase = {
  name: "handover",
  promise: "clients do not notice that the owner is killed, there is never a second one, no import is lost",
  defaultRounds: 20,
  async run(options) {
    if (process.platform !== "linux") return cannotRun("it reads /proc to see who owns the database");
    using folder = makeWorkFolder("handover");
    return await runHandover(folder.path, options);
  },
};

const CLIENTS = 4;
const HANDOVER_LIMIT_MS = 60_000;
const EXIT_LIMIT_MS = 5_000;
const WORKING_MS = { least: 200, most: 1_200 };

async function runHandover(folder: string, { rounds, seed, say }: CaseOptions): Promise<CaseOutcome> {
  const home = join(folder, "home");
  using _commands = registerCleanup(() => killCommands(home));
  const random = new Random(seed);
  const problems: string[] = [];
  await using stack = new AsyncDisposableStack();
  const clients = await connectAll(home, stack);
  const owners = stack.use(new OwnerWatch(home));
  const importer = new Importer(home, folder);
  const times: number[] = [];
  for (let round = 1; round <= rounds && problems.length === 0; round += 1) {
    await sleep(random.between(WORKING_MS.least, WORKING_MS.most));
    times.push(await killOwner(home, clients, (problem) => problems.push(`round ${round}: ${problem}`)));
    say(`round ${round}/${rounds}: ${times.at(-1)} ms, ${importer.acknowledged.length} imports acknowledged`);
  }
  await until("an import after the last hand-over", () => importer.isPast(Date.now() - 1_000), HANDOVER_LIMIT_MS);
  await importer.stop();
  for (const client of clients) await client.stop();
  const imports = await checkImports(home, folder, importer);
  problems.push(...owners.problems, ...importer.errors, ...clients.flatMap(({ errors }) => errors));
  if (imports.lost + imports.half > 0) problems.push(`imports: ${JSON.stringify(imports)}`);
  await stack.disposeAsync();
  await endDaemon(home, problems);
  return {
    holds: problems.length === 0,
    problems,
    table: [
      {
        kills: times.length,
        clients: CLIENTS,
        answers: sum(clients.map(({ answers }) => answers)),
        clientErrors: sum(clients.map(({ errors }) => errors.length)),
        mostOwnersAtOnce: owners.most,
        looks: owners.looks,
        ...imports,
        p50Ms: median(times),
        maxMs: Math.max(...times),
      },
    ],
    details: { handoverMs: times, importsInterrupted: importer.interrupted },
  };
}

/** Connects all at once, so that they also race for the first start. */
async function connectAll(home: string, stack: AsyncDisposableStack): Promise<AskingClient[]> {
  const connect = async (): Promise<AskingClient> => new AskingClient(stack.use(await connectClient(home)).client);
  return Promise.all(Array.from({ length: CLIENTS }, connect));
}

/** Kills the owner and returns how long the slowest client then waited for an answer. */
async function killOwner(
  home: string,
  clients: readonly AskingClient[],
  problem: (text: string) => void,
): Promise<number> {
  const former = readDaemonAddress(home)?.pid;
  if (former === undefined || !findDaemons(home).includes(former)) {
    problem(`there is no daemon to kill (${former})`);
    return 0;
  }
  process.kill(former, "SIGKILL");
  const killed = performance.now();
  await until(
    "every client has an answer to what it asked after the kill",
    () => clients.every(({ answeredUpTo, errors }) => answeredUpTo > killed || errors.length > 0),
    HANDOVER_LIMIT_MS,
  );
  const took = Math.round(performance.now() - killed);
  const next = readDaemonAddress(home)?.pid;
  if (next === undefined || next === former) problem(`the owner is still the one that was killed (${former})`);
  const refusal = tryToOwn(home);
  if (refusal?.code !== "store_busy") problem(`the lock is free while daemon ${next} is up`);
  else if (refusal.details["pid"] !== next) problem(`the lock names ${String(refusal.details["pid"])}, not ${next}`);
  return took;
}

/** Polls all the time: two owners would coexist for a moment only. */
class OwnerWatch implements Disposable {
  readonly problems: string[] = [];
  readonly #timer: NodeJS.Timeout;
  most = 0;
  looks = 0;

  constructor(home: string) {
    this.#timer = setInterval(() => {
      const owners = findOwners(home);
      this.looks += 1;
      this.most = Math.max(this.most, owners.length);
      if (owners.length > 1) this.problems.push(`several owners at once: ${owners.join(", ")}`);
    }, 40);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

interface ImportCounts {
  readonly imports: number;
  readonly lost: number;
  readonly half: number;
}

async function checkImports(home: string, folder: string, { acknowledged }: Importer): Promise<ImportCounts> {
  const path = join(folder, "after.pml");
  await runJson(["export", "-o", path], { home });
  const rows = countImportedRows(path);
  return {
    imports: acknowledged.length,
    lost: acknowledged.filter((id) => !rows.has(id)).length,
    half: [...rows.values()].filter((count) => count !== ROWS_PER_IMPORT).length,
  };
}

async function endDaemon(home: string, problems: string[]): Promise<void> {
  const before = findDaemons(home);
  if (before.length !== 1) problems.push(`${before.length} daemons are left, not one`);
  await runJson(["down"], { home });
  // The process ends a moment after it has let go of the directory.
  const isOver = until("the daemon has ended", () => findDaemons(home).length === 0, EXIT_LIMIT_MS);
  await isOver.catch(() => problems.push(`daemons are left after pml down: ${findDaemons(home).join(", ")}`));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
