import { execFileSync } from "node:child_process";
import type { Goal, BenchSession } from "../support/benchmark.ts";
import { interleave, type MeasuredVariant } from "../support/interleave.ts";
import { median } from "../support/statistics.ts";
import { startDaemon, STOP_LIMIT_MS } from "./daemon.ts";
import { BARE_PGLITE, type Column, PML_PGLITE, PML_POSTGRES } from "./engine.ts";
import { startEngine } from "./engine-handle.ts";
import type { Workplace } from "./workplace.ts";

const ROUNDS = 5;
const FIRST_GOAL: Goal = { atMost: 2.5 };
const WARM_GOAL: Goal = { atMost: 1.5 };
/** A longer stop means that the daemon was killed, and that the next warm start was a recovery. */
const STOP_GOAL: Goal = { atMost: STOP_LIMIT_MS / 1000 };

interface StartTiming {
  readonly startMs: number;
  readonly startCpuMs?: number | undefined;
  readonly stopMs?: number;
}

/** Starts an engine or daemon, stops it again, and returns the times. */
type Start = (column: Column, location: StartLocation) => Promise<StartTiming>;

interface StartLocation {
  /** PML_HOME, or the folder of the bare engine; unused by a bare driver. */
  readonly home: string;
  readonly url: string | undefined;
}

export async function measureDatabaseStarts(workplace: Workplace, session: BenchSession): Promise<void> {
  session.progress("database starts");
  // Bare PGlite initialises its files for seconds at a first start, which is known and not worth the minute.
  const columns = { first: [PML_PGLITE, PML_POSTGRES], warm: [PML_PGLITE, PML_POSTGRES, BARE_PGLITE] } as const;
  await measureStarts("database", { columns, start: startDatabaseOnce, workplace, session, goals: {} });
}

export async function measureDaemonStarts(workplace: Workplace, session: BenchSession): Promise<void> {
  session.progress("daemon starts");
  const columns = { first: [PML_PGLITE, PML_POSTGRES], warm: [PML_PGLITE, PML_POSTGRES] } as const;
  const goals = { first: FIRST_GOAL, warm: WARM_GOAL };
  await measureStarts("daemon", { columns, start: startDaemonOnce, workplace, session, goals });
}

const startDatabaseOnce: Start = async (column, { home, url }) => {
  await using engine = await startEngine(column, url ?? home);
  return { startMs: engine.startMs };
};

const startDaemonOnce: Start = async (_column, { home, url }) => {
  const daemon = await startDaemon(home, url);
  const asked = performance.now();
  await daemon[Symbol.asyncDispose]();
  return { startMs: daemon.startMs, startCpuMs: daemon.startCpuMs, stopMs: performance.now() - asked };
};

const kinds = ["first", "warm"] as const;
type StartKind = (typeof kinds)[number];

interface StartJob {
  readonly columns: Readonly<Record<StartKind, readonly Column[]>>;
  readonly start: Start;
  readonly workplace: Workplace;
  readonly session: BenchSession;
  /** Goals of the embedded engine. */
  readonly goals: Readonly<Partial<Record<StartKind, Goal>>>;
}

async function measureStarts(what: string, job: StartJob): Promise<void> {
  const variants: MeasuredVariant[] = [];
  const timings = new Map<string, StartTiming[]>();
  const add = (kind: StartKind, column: Column, location: () => Promise<StartLocation>): void => {
    const name = variantName(kind, column);
    const ofVariant: StartTiming[] = [];
    timings.set(name, ofVariant);
    const round = async (): Promise<number[]> => {
      const outcome = await startAt(column, await location(), job);
      ofVariant.push(outcome);
      return [outcome.startMs];
    };
    variants.push({ name, round });
  };
  for (const column of job.columns.first) add("first", column, () => newLocation(column, job.workplace));
  for (const column of job.columns.warm) {
    const used = await newLocation(column, job.workplace);
    await job.start(column, used);
    add("warm", column, async () => used);
  }
  await interleave(variants, { rounds: ROUNDS, warmUps: 0, signal: job.session.signal });
  recordStarts(what, job, timings);
}

function recordStarts(what: string, job: StartJob, timings: ReadonlyMap<string, readonly StartTiming[]>): void {
  const { columns, session, goals } = job;
  for (const kind of kinds) {
    const row = `${what}, ${kind} start`;
    for (const column of columns[kind]) {
      const ofVariant = timings.get(variantName(kind, column)) ?? [];
      const goal = column === PML_PGLITE ? goals[kind] : undefined;
      const value = median(ofVariant.map(({ startMs }) => startMs)) / 1000;
      session.record({ row, unit: "s", column, value, ...(goal === undefined ? {} : { goal }) });
      const cpu = ofVariant.flatMap(({ startCpuMs }) => startCpuMs ?? []);
      if (cpu.length > 0) session.record({ row, unit: "CPU s", column, value: median(cpu) / 1000 });
    }
  }
  for (const column of columns.warm) {
    const all = kinds.flatMap((kind) => timings.get(variantName(kind, column)) ?? []);
    const stops = all.flatMap(({ stopMs }) => stopMs ?? []);
    if (stops.length === 0) continue;
    const value = Math.max(...stops) / 1000;
    session.record({ row: `${what}, longest stop`, unit: "s", column, value, goal: STOP_GOAL });
  }
}

function variantName(kind: StartKind, column: Column): string {
  return `${kind} ${column}`;
}

async function startAt(column: Column, location: StartLocation, { start }: StartJob): ReturnType<Start> {
  // Flushes dirty pages of the previous engine, which the fsync of the next would wait for.
  execFileSync("sync");
  return start(column, location);
}

async function newLocation(column: Column, workplace: Workplace): Promise<StartLocation> {
  const location = await workplace.newLocation(column);
  if (column === PML_POSTGRES) return { home: workplace.newPath("home"), url: location };
  return { home: location, url: undefined };
}
