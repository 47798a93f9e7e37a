import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ErrorReport, EXIT } from "../../src/base/errors.ts";
import { runPml } from "../support/pml.ts";
import { registerCleanup } from "./cleanup.ts";
import { FillerProcess } from "./filler-process.ts";
import { inspect } from "./inspection.ts";
import { Ledger } from "./ledger.ts";
import { runProgram, unmount, whyNoMounts } from "./system.ts";
import { type Cell, cannotRun, type TortureCase } from "./torture-case.ts";
import { isIntact } from "./transactions.ts";
import { makeWorkFolder } from "./work-folder.ts";

export const diskFull: TortureCase = {
  name: "diskfull",
  promise: "a full disk refuses writes with 53100 and stops nothing else; with space again, all goes on",
  defaultRounds: 1,
  async run({ rounds, say }) {
    const reason = whyNoMounts(["mount", "umount"]);
    if (reason !== undefined) return cannotRun(reason);
    const problems: string[] = [];
    const table: Record<string, Cell>[] = [];
    const run = async (name: string, scene: DiskScene): Promise<void> => {
      using disk = mountSmallDisk();
      const found: string[] = [];
      table.push({ scene: name, ...(await scene(disk, found)), problems: found.length });
      problems.push(...found.map((problem) => `${name}: ${problem}`));
      say(`${name}: ${found.length === 0 ? "holds" : found.join("; ")}`);
    };
    for (let round = 0; round < rounds; round += 1) {
      await run("no room for data pages", (disk, found) => fillAndFree(disk, ROOM_FOR_MUCH, found));
      await run("no room for a WAL segment", (disk, found) => fillAndFree(disk, ROOM_BELOW_A_SEGMENT, found));
      await run("killed while full", killWhileFull);
      for (const free of [0, 1, 15]) await run(`first start, ${free} MB free`, firstStart(free));
    }
    return { holds: problems.length === 0, problems, table };
  },
};

type DiskScene = (disk: SmallDisk, found: string[]) => Promise<Record<string, Cell>>;

const DISK_MB = 160;
/** A new database takes 27 to 40 MB of it. */
const ROOM_FOR_MUCH = 60;
/** A WAL segment has 16 MB: pages still fit when the next segment does not. */
const ROOM_BELOW_A_SEGMENT = 14;
const DATABASE_MB = 40;
const FULL_LIMIT_MS = 60_000;
const RESUME_LIMIT_MS = 20_000;
const NO_SPACE = "53100";
const ENTRIES_AFTERWARDS = 100;

interface SmallDisk extends Disposable {
  readonly home: string;
  readonly ledger: Ledger;
  /** Occupies space until `free`. */
  takeAway(megabytes: number): void;
  free(): void;
}

function mountSmallDisk(): SmallDisk {
  using stack = new DisposableStack();
  const folder = stack.use(makeWorkFolder("diskfull"));
  const mountPoint = join(folder.path, "disk");
  mkdirSync(mountPoint);
  runProgram("mount", "-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", mountPoint);
  stack.use(registerCleanup(() => unmount(mountPoint)));
  const ballast = join(mountPoint, "ballast");
  const mounted = stack.move();
  return {
    home: join(mountPoint, "home"),
    ledger: new Ledger(join(folder.path, "ledger")),
    takeAway: (megabytes) => writeFileSync(ballast, Buffer.alloc(megabytes * 1024 * 1024)),
    free: () => rmSync(ballast),
    [Symbol.dispose]: () => mounted.dispose(),
  };
}

async function fillAndFree(disk: SmallDisk, room: number, found: string[]): Promise<Record<string, Cell>> {
  disk.takeAway(DISK_MB - DATABASE_MB - room);
  const filler = new FillerProcess(disk.home);
  const full = await filler.waitFor("waiting", FULL_LIMIT_MS);
  checkWhileFull(filler, full, found);
  disk.free();
  if (full === "said") {
    filler.goOn();
    const closed = await filler.waitFor("closed", RESUME_LIMIT_MS);
    if (closed !== "said") found.push(`after space was freed, the process ${closed}`);
    if (Number(filler.said("resumed")[0]) !== ENTRIES_AFTERWARDS) found.push("writing did not go on");
  }
  await filler.kill();
  return { process: full === "said" ? "answers" : full, ...(await inspectAfterwards(disk, filler, found)) };
}

/**
 * A database without room for its WAL cannot continue, so the process may end there and the next one recovers. It must
 * report the reason, though, and must not end for want of room for data.
 */
function checkWhileFull(filler: FillerProcess, full: "said" | "ended" | "hangs", found: string[]): void {
  const others = filler.said("full").filter((text) => !text.startsWith(NO_SPACE));
  if (others.length > 0) found.push(`writes failed otherwise: ${others[0]}`);
  if (full === "hangs") found.push(`neither an answer nor an end within ${FULL_LIMIT_MS / 1000} s`);
  if (full === "ended" && !/space|disk is full|53100/i.test(filler.stderr)) {
    found.push(`ended without naming the reason: ${filler.stderr.slice(-300)}`);
  }
  if (full !== "said") return;
  const [read] = filler.said("read");
  if (Number(read) !== filler.said("ack").length) found.push(`${read} rows read, others acknowledged`);
}

async function killWhileFull(disk: SmallDisk, found: string[]): Promise<Record<string, Cell>> {
  disk.takeAway(DISK_MB - DATABASE_MB - ROOM_FOR_MUCH);
  const filler = new FillerProcess(disk.home);
  const full = await filler.waitFor("waiting", FULL_LIMIT_MS);
  await filler.kill();
  const meanwhile = await inspect({ home: disk.home, ledgerPath: disk.ledger.path, engine: "ours" });
  // It may open or not, but it must report the reason.
  if (!meanwhile.opened && !/no space|disk is full/i.test(meanwhile.reason)) found.push(meanwhile.reason);
  disk.free();
  const process = `${full === "said" ? "answers" : full}, then ${meanwhile.opened ? "opens" : "says so"}`;
  return { process, ...(await inspectAfterwards(disk, filler, found)) };
}

async function inspectAfterwards(
  { home, ledger }: SmallDisk,
  filler: FillerProcess,
  found: string[],
): Promise<Record<string, Cell>> {
  ledger.add(filler.said("ack"));
  const after = await inspect({ home, ledgerPath: ledger.path, engine: "ours" });
  const numbers = { acknowledged: ledger.count, refused: filler.said("full").length };
  if (!after.opened) {
    found.push(`does not open again: ${after.reason}`);
    return { ...numbers, lost: "unknown", corrupt: "unknown" };
  }
  const { findings, indexes } = after;
  if (!isIntact(findings)) found.push(JSON.stringify(findings));
  found.push(...indexes.corrupt.map((name) => `corrupt: ${name}`));
  return { ...numbers, lost: findings.lost, corrupt: indexes.corrupt.length };
}

function firstStart(free: number): DiskScene {
  return async (disk, found) => {
    disk.takeAway(DISK_MB - free);
    const { code, stdout } = await runPml(["serve", "--json"], { home: disk.home, cwd: "/" });
    const { error } = JSON.parse(stdout || "{}") as { error?: ErrorReport };
    const clear = error?.code === "disk_full" || /disk is full|no space/i.test(error?.message ?? "");
    if (code !== EXIT.failed || !clear) found.push(`exit ${code}: ${JSON.stringify(error)}`);
    return { process: `exit ${code}, ${error?.code ?? "no error"}` };
  };
}
