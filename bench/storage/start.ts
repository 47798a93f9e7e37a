import { execFileSync } from "node:child_process";
import type { Goal, Session } from "../support/benchmark.ts";
import { interleave, type Samples, type Variant } from "../support/interleave.ts";
import { median } from "../support/statistics.ts";
import { startDaemon } from "./daemon.ts";
import { BARE_PGLITE, type Column, PML_PGLITE, PML_POSTGRES } from "./engine.ts";
import { startEngine } from "./engine-handle.ts";
import type { Workplace } from "./workplace.ts";

const ROUNDS = 5;
const FIRST_GOAL: Goal = { atMost: 2.5 };
const WARM_GOAL: Goal = { atMost: 1.5 };

/** Starts something at a place, ends it again, and says how many milliseconds the start took. */
type Start = (column: Column, place: Place) => Promise<{ readonly ms: number; readonly cpuMs?: number | undefined }>;

interface Place {
  /** PML_HOME, or where the bare engine keeps its files; unused by a bare driver. */
  readonly home: string;
  readonly url: string | undefined;
}

export async function measureDatabaseStarts(workplace: Workplace, session: Session): Promise<void> {
  session.progress("database starts");
  // Bare PGlite sets up its files for seconds at a first start, which is known and not worth the minute.
  const columns = { first: [PML_PGLITE, PML_POSTGRES], warm: [PML_PGLITE, PML_POSTGRES, BARE_PGLITE] } as const;
  await measureStarts("database", { columns, start: startDatabaseOnce, workplace, session, goals: {} });
}

export async function measureDaemonStarts(workplace: Workplace, session: Session): Promise<void> {
  session.progress("daemon starts");
  const columns = { first: [PML_PGLITE, PML_POSTGRES], warm: [PML_PGLITE, PML_POSTGRES] } as const;
  const goals = { first: FIRST_GOAL, warm: WARM_GOAL };
  await measureStarts("daemon", { columns, start: startDaemonOnce, workplace, session, goals });
}

const startDatabaseOnce: Start = async (column, { home, url }) => {
  await using engine = await startEngine(column, url ?? home);
  return { ms: engine.startMs };
};

const startDaemonOnce: Start = async (_column, { home, url }) => {
  await using daemon = await startDaemon(home, url);
  return { ms: daemon.startMs, cpuMs: daemon.startCpuMs };
};

const kinds = ["first", "warm"] as const;
type Kind = (typeof kinds)[number];

interface StartJob {
  readonly columns: Readonly<Record<Kind, readonly Column[]>>;
  readonly start: Start;
  readonly workplace: Workplace;
  readonly session: Session;
  /** Those of the embedded engine. */
  readonly goals: Readonly<Partial<Record<Kind, Goal>>>;
}

async function measureStarts(what: string, job: StartJob): Promise<void> {
  const { columns, session } = job;
  const variants: Variant[] = [];
  const cpu = new Map<string, number[]>();
  const add = (kind: Kind, column: Column, place: () => Promise<Place>): void => {
    const name = variantName(kind, column);
    variants.push({
      name,
      round: async () => {
        const { ms, cpuMs } = await startAt(column, await place(), job);
        if (cpuMs !== undefined) cpu.set(name, [...(cpu.get(name) ?? []), cpuMs]);
        return [ms];
      },
    });
  };
  for (const column of columns.first) add("first", column, () => newPlace(column, job.workplace));
  for (const column of columns.warm) {
    const used = await newPlace(column, job.workplace);
    await job.start(column, used);
    add("warm", column, async () => used);
  }
  const samples = await interleave(variants, { rounds: ROUNDS, warmUps: 0, signal: session.signal });
  recordStarts(what, job, { samples, cpu });
}

function recordStarts(
  what: string,
  { columns, session, goals }: StartJob,
  { samples, cpu }: { samples: Samples; cpu: ReadonlyMap<string, readonly number[]> },
): void {
  for (const kind of kinds) {
    const row = `${what}, ${kind} start`;
    for (const column of columns[kind]) {
      const name = variantName(kind, column);
      const goal = column === PML_PGLITE ? goals[kind] : undefined;
      const value = median((samples.get(name) ?? []).flat()) / 1000;
      session.record({ row, unit: "s", column, value, ...(goal === undefined ? {} : { goal }) });
      const ofCpu = cpu.get(name);
      if (ofCpu !== undefined) session.record({ row, unit: "CPU s", column, value: median(ofCpu) / 1000 });
    }
  }
}

function variantName(kind: Kind, column: Column): string {
  return `${kind} ${column}`;
}

async function startAt(column: Column, place: Place, { start }: StartJob): ReturnType<Start> {
  // What one engine left unwritten, the fsync of the next would have to wait for.
  execFileSync("sync");
  return start(column, place);
}

async function newPlace(column: Column, workplace: Workplace): Promise<Place> {
  const location = await workplace.newLocation(column);
  if (column === PML_POSTGRES) return { home: workplace.newPath("home"), url: location };
  return { home: location, url: undefined };
}
