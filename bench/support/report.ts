import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type Benchmark, type BenchFigure, meetsGoal, type BenchSession } from "./benchmark.ts";
import { type BenchMachine, readLoad } from "./machine.ts";
import { formatGoal, formatNumber, formatTable } from "./table.ts";

/** A finished benchmark, as in the JSON file. */
export interface BenchReport {
  readonly name: string;
  readonly date: string;
  readonly seconds: number;
  readonly machine: BenchMachine;
  readonly load: { readonly before: number; readonly after: number };
  readonly columns: readonly string[];
  readonly figures: readonly (BenchFigure & { readonly met?: boolean })[];
  readonly notes: readonly string[];
  /** Present if the benchmark publishes a document of its own. */
  readonly document?: unknown;
}

export interface BenchRun {
  readonly name: string;
  readonly benchmark: Benchmark;
  readonly machine: BenchMachine;
  readonly signal: AbortSignal;
  readonly data: string | undefined;
  readonly worlds: string | undefined;
}

export async function runBenchmark({ name, benchmark, machine, signal, ...folders }: BenchRun): Promise<BenchReport> {
  const figures: (BenchFigure & { met?: boolean })[] = [];
  const notes: string[] = [];
  let document: unknown;
  const started = new Date();
  const before = readLoad();
  const session: BenchSession = {
    record: (figure) =>
      void figures.push(figure.goal === undefined ? figure : { ...figure, met: meetsGoal(figure.value, figure.goal) }),
    ...folders,
    publish: (published) => void (document = published),
    note: (text) => void notes.push(text),
    progress: (text) => console.error(`${name}, ${secondsSince(started)} s: ${text} …`),
    signal,
  };
  await benchmark.run(session);
  return {
    name,
    date: started.toISOString(),
    seconds: secondsSince(started),
    machine,
    load: { before, after: readLoad() },
    columns: benchmark.columns,
    figures,
    notes,
    ...(document === undefined ? {} : { document }),
  };
}

function secondsSince(started: Date): number {
  return Math.round((Date.now() - started.getTime()) / 1000);
}

export function printReport(title: string, report: BenchReport): void {
  const { machine, figures, notes, load } = report;
  console.log(`\n${title}`);
  console.log(`${report.date}, ${report.seconds} s, load ${load.before} before and ${load.after} after`);
  console.log(`Node ${machine.node}, ${machine.cpuCount} × ${machine.cpu}, ${machine.memoryGb} GB\n`);
  console.log(formatTable(figures, report.columns));
  if (machine.temporaryFilesInMemory) {
    console.log("\nTemporary files are in memory here: commits did not reach a disk. Set TMPDIR to a folder on one.");
  }
  // Up to the number of CPUs, the benchmark itself may have caused the load afterwards.
  if (load.before > machine.cpuCount || load.after > 2 * machine.cpuCount) {
    console.log("\nOther processes kept the CPUs busy: times are too long, and missed goals may be theirs.");
  }
  for (const note of notes) console.log(`\n${note}`);
  printGoals(figures);
}

function printGoals(figures: BenchReport["figures"]): void {
  const misses = figures.filter(({ met }) => met === false);
  const met = figures.filter((figure) => figure.met === true).length;
  console.log(`\nGoals: ${met} met, ${misses.length} missed`);
  for (const { row, column, value, unit, goal } of misses) {
    const wanted = goal === undefined ? "" : formatGoal(goal);
    console.log(`  missed: ${row}, ${column}: ${formatNumber(value)} ${unit}, goal ${wanted}`);
  }
}

export function countMisses({ figures }: BenchReport): number {
  return figures.filter(({ met }) => met === false).length;
}

/** Writes the document of a single benchmark that publishes one. */
export function formatReports(reports: readonly BenchReport[]): string {
  const [only, ...others] = reports;
  const document = others.length === 0 ? only?.document : undefined;
  return `${JSON.stringify(document ?? { benchmarks: reports }, undefined, 2)}\n`;
}

export async function writeReports(path: string, reports: readonly BenchReport[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, formatReports(reports));
}
