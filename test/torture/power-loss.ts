import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type EngineKind, openEngine } from "./engine.ts";
import { type Inspection, inspect } from "./inspection.ts";
import { Ledger } from "./ledger.ts";
import { copyDevice, copyImage, createImage, IMAGE_PROGRAMS, mountImage } from "./loop-image.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../support/random.ts";
import { whyNoMounts } from "./system.ts";
import { cannotRun, type CaseOptions, type TortureCase } from "./torture-case.ts";
import { isIntact } from "./transactions.ts";
import { makeWorkFolder } from "./work-folder.ts";
import { WriterProcess } from "./writer-process.ts";

export const powerLoss: TortureCase = {
  name: "powerloss",
  promise: "a power cut at any moment loses no acknowledged transaction, and the database opens again",
  defaultRounds: 20,
  async run(options) {
    const reason = whyNoMounts(IMAGE_PROGRAMS);
    if (reason !== undefined) return cannotRun(reason);
    const ours = await runPowerCuts("ours", options);
    const reports = [ours];
    const problems = [...ours.problems];
    if (options.control) {
      const control = await runPowerCuts("default", { ...options, rounds: Math.min(options.rounds, CONTROL_ROUNDS) });
      reports.push(control);
      if (control.intact === control.rounds) problems.push("the control lost nothing, so this harness proves nothing");
    }
    return {
      holds: problems.length === 0,
      problems,
      table: reports.map(({ problems: _problems, ...numbers }) => numbers),
      details: { reports },
    };
  },
};

interface CutReport {
  engine: string;
  rounds: number;
  intact: number;
  /** Rounds in which the cut came during the first start, before there was a database. */
  duringFirstStart: number;
  acknowledged: number;
  lost: number;
  half: number;
  unopenable: number;
  corrupt: number;
  problems: string[];
}

const CONTROL_ROUNDS = 10;
/** Takes a new disk every few rounds, and cuts during its first start. */
const NEW_DISK_EVERY = 5;
const WRITING_MS = { least: 20, most: 1_500 };
const FIRST_START_MS = { least: 50, most: 2_500 };
/** With a long interval only synced data is on the disk; with a short one more, and in another order. */
const COMMIT_SECONDS = [600, 1];

async function runPowerCuts(engine: EngineKind, { rounds, seed, say }: CaseOptions): Promise<CutReport> {
  using folder = makeWorkFolder(`powerloss-${engine}`);
  const bench = new CutBench(folder.path, engine, new Random(seed));
  if (engine === "default") await bench.prepareBase();
  const report = emptyReport(engine);
  for (let round = 0; round < rounds; round += 1) {
    const acknowledgedBefore = bench.acknowledged;
    const firstStart = engine === "ours" && round % NEW_DISK_EVERY === 0;
    if (firstStart || engine === "default" || bench.broken) bench.takeNewDisk();
    const inspection = await bench.cutPower(firstStart, COMMIT_SECONDS[round % 2] ?? 1);
    report.rounds += 1;
    report.acknowledged += bench.acknowledged - acknowledgedBefore;
    if (firstStart) report.duringFirstStart += 1;
    const result = note(report, inspection);
    if (result !== "intact") report.problems.push(`round ${report.rounds}: ${result}`);
    say(`${engine} round ${report.rounds}/${rounds}: ${result}, ${report.acknowledged} acknowledged so far`);
  }
  return report;
}

/** The disk in use, and the power cuts. */
class CutBench {
  readonly #root: string;
  readonly #engine: EngineKind;
  readonly #random: Random;
  #ledger: Ledger;
  #formerDisks = 0;
  /** True if the content of the disk can no longer be used. */
  broken = false;

  constructor(root: string, engine: EngineKind, random: Random) {
    this.#root = root;
    this.#engine = engine;
    this.#random = random;
    this.#ledger = new Ledger(this.#path("ledger"));
  }

  /** Counts over all disks. */
  get acknowledged(): number {
    return this.#formerDisks + this.#ledger.count;
  }

  /** Starts the control from a durable database: only its commits are under test. */
  async prepareBase(): Promise<void> {
    createImage(this.#path("base.img"));
    using mounted = mountImage({ image: this.#path("base.img"), folder: this.#path("disk"), commitSeconds: 5 });
    await using _engine = await openEngine(join(mounted.folder, "home"), "ours");
  }

  takeNewDisk(): void {
    this.#formerDisks += this.#ledger.count;
    this.#ledger = new Ledger(this.#path("ledger"));
    this.broken = false;
    if (this.#engine === "default") copyImage(this.#path("base.img"), this.#path("disk.img"));
    else createImage(this.#path("disk.img"));
  }

  /** Continues with the disk as the cut left it, like a machine that is switched on again. */
  async cutPower(firstStart: boolean, commitSeconds: number): Promise<Inspection> {
    await this.#writeUntilCut(firstStart, commitSeconds);
    renameSync(this.#path("cut.img"), this.#path("disk.img"));
    const inspection = await this.#inspect();
    this.broken = !inspection.opened || !isIntact(inspection.findings);
    return inspection;
  }

  async #writeUntilCut(firstStart: boolean, commitSeconds: number): Promise<void> {
    using mounted = mountImage({ image: this.#path("disk.img"), folder: this.#path("disk"), commitSeconds });
    const { least, most } = firstStart ? FIRST_START_MS : WRITING_MS;
    const delay = this.#random.between(least, most);
    const home = join(mounted.folder, "home");
    const writer = new WriterProcess({ home, ledgerPath: this.#ledger.path, engine: this.#engine });
    if (!firstStart && !(await writer.firstAck())) throw new Error(`the writer did not open: ${writer.stderr}`);
    await sleep(delay);
    await writer.freeze();
    if (!writer.running) throw new Error(`the writer ended before the cut: ${writer.stderr}`);
    copyDevice(mounted, this.#path("cut.img"));
    // It was frozen at the cut: it acknowledged nothing since.
    await writer.kill();
    this.#ledger.add(writer.acknowledged);
  }

  async #inspect(): Promise<Inspection> {
    try {
      using mounted = mountImage({ image: this.#path("disk.img"), folder: this.#path("disk"), commitSeconds: 5 });
      const home = join(mounted.folder, "home");
      return await inspect({ home, ledgerPath: this.#ledger.path, engine: this.#engine });
    } catch (error) {
      rmSync(this.#path("disk.img"), { force: true });
      return { opened: false, reason: `the file system does not mount: ${String(error)}` };
    }
  }

  #path(name: string): string {
    return join(this.#root, name);
  }
}

function note(report: CutReport, inspection: Inspection): string {
  if (!inspection.opened) {
    report.unopenable += 1;
    return `does not open: ${inspection.reason}`;
  }
  const { findings, indexes } = inspection;
  report.lost += findings.lost;
  report.half += findings.half + findings.wrongCounters;
  report.corrupt += indexes.corrupt.length;
  if (!isIntact(findings)) return JSON.stringify(findings);
  if (indexes.corrupt.length > 0) return `corrupt: ${indexes.corrupt.join("; ")}`;
  report.intact += 1;
  return "intact";
}

function emptyReport(engine: EngineKind): CutReport {
  const name = engine === "ours" ? "ours" : "PGlite defaults";
  const numbers = { rounds: 0, intact: 0, duringFirstStart: 0, acknowledged: 0, lost: 0, half: 0 };
  return { engine: name, ...numbers, unopenable: 0, corrupt: 0, problems: [] };
}
