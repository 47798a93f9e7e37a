import { join } from "node:path";
import { inspect } from "./inspection.ts";
import { Ledger } from "./ledger.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../support/random.ts";
import type { CaseOptions, CaseOutcome, TortureCase } from "./torture-case.ts";
import { isIntact } from "./transactions.ts";
import { makeWorkFolder } from "./work-folder.ts";
import { WriterProcess } from "./writer-process.ts";

export const killNine: TortureCase = {
  name: "kill9",
  promise: "kill -9 at any moment loses no acknowledged transaction and leaves no half one",
  defaultRounds: 200,
  run: async (options) => {
    const report = await runKillRounds(options);
    return toOutcome(report, options);
  },
};

export interface KillReport {
  rounds: number;
  /** Rounds that ended while the database was still being opened. */
  endedWhileOpening: number;
  acknowledged: number;
  /** Committed, but killed before the acknowledgement. */
  unacknowledged: number;
  lost: number;
  half: number;
  wrongCounters: number;
  unopenable: number;
  inspections: number;
  relationsChecked: number;
  corrupt: string[];
  problems: string[];
  seconds: number;
}

export type KillOptions = Pick<CaseOptions, "rounds" | "seed" | "say">;

const INSPECT_EVERY = 20;
/** Interrupts recovery itself now and then: it must be able to start over. */
const END_WHILE_OPENING_EVERY = 10;
/** The first one comes early, so that a run of few rounds has one too, and a writer after it. */
const FIRST_END_WHILE_OPENING = 2;
const WRITING_MS = { least: 5, most: 400 };
const OPENING_MS = { least: 50, most: 900 };

/** Uses one PML_HOME for all rounds, so that damage would accumulate. */
export async function runKillRounds({ rounds, seed, say }: KillOptions): Promise<KillReport> {
  using folder = makeWorkFolder("kill9");
  const started = performance.now();
  const random = new Random(seed);
  const ledger = new Ledger(join(folder.path, "ledger"));
  const home = join(folder.path, "home");
  const report = emptyReport();
  while (report.rounds < rounds && report.problems.length === 0) {
    report.rounds += 1;
    await killOnce({ home, ledger, random, report });
    if (report.rounds % INSPECT_EVERY !== 0 && report.rounds < rounds) continue;
    await inspectNow(home, ledger, report);
    const { lost, corrupt, rounds: done } = report;
    say(`round ${done}/${rounds}: ${ledger.count} acknowledged, ${lost} lost, ${corrupt.length} corrupt`);
  }
  return { ...report, acknowledged: ledger.count, seconds: Math.round((performance.now() - started) / 1000) };
}

interface Round {
  readonly home: string;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly report: KillReport;
}

async function killOnce({ home, ledger, random, report }: Round): Promise<void> {
  const whileOpening = report.rounds % END_WHILE_OPENING_EVERY === FIRST_END_WHILE_OPENING;
  const { least, most } = whileOpening ? OPENING_MS : WRITING_MS;
  const delay = random.between(least, most);
  const writer = new WriterProcess({ home, ledgerPath: ledger.path, engine: "ours" });
  if (!whileOpening) await writer.firstAck();
  await sleep(delay);
  const endedByItself = !writer.running;
  await writer.kill();
  ledger.add(writer.acknowledged);
  if (writer.acknowledged.length === 0) report.endedWhileOpening += 1;
  if (writer.findings !== undefined) note(report, writer.findings);
  if (!endedByItself) return;
  if (writer.findings === undefined) report.unopenable += 1;
  report.problems.push(`round ${report.rounds}: the writer ended by itself: ${writer.stderr.slice(-500)}`);
}

async function inspectNow(home: string, ledger: Ledger, report: KillReport): Promise<void> {
  const inspection = await inspect({ home, ledgerPath: ledger.path, engine: "ours" });
  if (!inspection.opened) {
    report.unopenable += 1;
    report.problems.push(`round ${report.rounds}: the database does not open: ${inspection.reason}`);
    return;
  }
  const { findings, indexes } = inspection;
  note(report, findings);
  report.inspections += 1;
  report.relationsChecked += indexes.checked;
  report.corrupt.push(...indexes.corrupt);
  report.problems.push(...indexes.corrupt.map((name) => `round ${report.rounds}: corrupt: ${name}`));
  report.unacknowledged = findings.committed - ledger.count;
  // A writer has one transaction in flight, so each kill can hide at most one acknowledgement.
  if (report.unacknowledged <= report.rounds) return;
  report.problems.push(`round ${report.rounds}: ${report.unacknowledged} transactions that nobody sent`);
}

type Counts = Parameters<typeof isIntact>[0];

function note(report: KillReport, findings: Counts): void {
  const { lost, half, wrongCounters } = findings;
  Object.assign(report, { lost, half, wrongCounters });
  if (!isIntact(findings)) report.problems.push(`round ${report.rounds}: ${JSON.stringify(findings)}`);
}

function emptyReport(): KillReport {
  const numbers = { rounds: 0, endedWhileOpening: 0, acknowledged: 0, unacknowledged: 0, lost: 0, half: 0 };
  const more = { wrongCounters: 0, unopenable: 0, inspections: 0, relationsChecked: 0, seconds: 0 };
  return { ...numbers, ...more, corrupt: [], problems: [] };
}

function toOutcome({ problems, corrupt, ...numbers }: KillReport, { rounds }: CaseOptions): CaseOutcome {
  return {
    holds: problems.length === 0 && numbers.rounds === rounds,
    problems,
    table: [{ ...numbers, corrupt: corrupt.length }],
  };
}
