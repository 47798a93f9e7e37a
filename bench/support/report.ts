import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type Benchmark, type Figure, meetsGoal, type Session } from "./benchmark.ts";
import { type Machine, readLoad } from "./machine.ts";
import { formatGoal, formatNumber, formatTable } from "./table.ts";

/** A finished benchmark, as it is written to the JSON file. */
export interface Report {
  readonly name: string;
  readonly date: string;
  readonly seconds: number;
  readonly machine: Machine;
  readonly load: { readonly before: number; readonly after: number };
  readonly columns: readonly string[];
  readonly figures: readonly (Figure & { readonly met?: boolean })[];
  readonly notes: readonly string[];
  /** Only where the benchmark has a form of its own for its results. */
  readonly document?: unknown;
}

export interface RunOptions {
  readonly name: string;
  readonly benchmark: Benchmark;
  readonly machine: Machine;
  readonly signal: AbortSignal;
  readonly data: string | undefined;
}

export async function runBenchmark({ name, benchmark, machine, signal, data }: RunOptions): Promise<Report> {
  const figures: (Figure & { met?: boolean })[] = [];
  const notes: string[] = [];
  let document: unknown;
  const started = new Date();
  const before = readLoad();
  const session: Session = {
    record: (figure) =>
      void figures.push(figure.goal === undefined ? figure : { ...figure, met: meetsGoal(figure.value, figure.goal) }),
    data,
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

export function printReport(title: string, report: Report): void {
  const { machine, figures, notes, load } = report;
  console.log(`\n${title}`);
  console.log(`${report.date}, ${report.seconds} s, load ${load.before} before and ${load.after} after`);
  console.log(`Node ${machine.node}, ${machine.cpuCount} × ${machine.cpu}, ${machine.memoryGb} GB\n`);
  console.log(formatTable(figures, report.columns));
  if (machine.temporaryFilesInMemory) {
    console.log("\nTemporary files are in memory here: commits did not reach a disk. Set TMPDIR to a folder on one.");
  }
  // Up to the number of CPUs it may be the benchmark itself that made the load afterwards.
  if (load.before > machine.cpuCount || load.after > 2 * machine.cpuCount) {
    console.log("\nOther processes kept the CPUs busy: times are too long, and missed goals may be theirs.");
  }
  for (const note of notes) console.log(`\n${note}`);
  printGoals(figures);
}

function printGoals(figures: Report["figures"]): void {
  const misses = figures.filter(({ met }) => met === false);
  const met = figures.filter((figure) => figure.met === true).length;
  console.log(`\nGoals: ${met} met, ${misses.length} missed`);
  for (const { row, column, value, unit, goal } of misses) {
    const wanted = goal === undefined ? "" : formatGoal(goal);
    console.log(`  missed: ${row}, ${column}: ${formatNumber(value)} ${unit}, goal ${wanted}`);
  }
}

export function countMisses({ figures }: Report): number {
  return figures.filter(({ met }) => met === false).length;
}

/** A single benchmark with a form of its own is written in it. */
export function formatReports(reports: readonly Report[]): string {
  const [only, ...others] = reports;
  const document = others.length === 0 ? only?.document : undefined;
  return `${JSON.stringify(document ?? { benchmarks: reports }, undefined, 2)}\n`;
}

export async function writeReports(path: string, reports: readonly Report[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, formatReports(reports));
}
