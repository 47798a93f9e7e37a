import { cp } from "node:fs/promises";
import type { Goal, BenchSession } from "../support/benchmark.ts";
import { median } from "../support/statistics.ts";
import { BARE_PG, BARE_PGLITE, type Column, PML_PGLITE, PML_POSTGRES, type TimedTransfer } from "./engine.ts";
import { type EngineHandle, startEngine } from "./engine-handle.ts";
import { RECORD_COUNT, ROW_COUNT } from "./sample-data.ts";
import { watchWal } from "./wal-watch.ts";
import type { Workplace } from "./workplace.ts";

const ROUNDS = 3;
const LOOKUPS = 200;
const GAP_GOAL: Goal = { atMost: 50 };
const WAL_GOAL: Goal = { atMost: 128 };

/** Exports each engine, one round of all at a time. Returns a file that PML wrote from the embedded one. */
export async function measureExports(
  engines: readonly EngineHandle[],
  workplace: Workplace,
  session: BenchSession,
): Promise<string> {
  session.progress("exports");
  const path = workplace.newPath("export.pml");
  const runs: TransferRun[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const engine of engines) {
      session.signal.throwIfAborted();
      const file = engine.column === PML_PGLITE ? path : workplace.newPath("compare.pml");
      runs.push({ column: engine.column, ...(await engine.transfer("export", file)) });
    }
  }
  checkRuns(runs);
  recordTimes("export", runs, session);
  recordGaps("export", runs, session);
  return path;
}

/**
 * Imports the file into empty databases: PGlite's export into PostgreSQL, and PostgreSQL's export of that back into
 * PGlite. All checksums must be equal.
 */
export async function measureImports(file: string, workplace: Workplace, session: BenchSession): Promise<void> {
  session.progress("imports, to the other engine and back");
  const pristine = await workplace.newLocation(BARE_PGLITE);
  await (await startEngine(BARE_PGLITE, pristine))[Symbol.asyncDispose]();
  const imports: TransferRun[] = [];
  const exports: TransferRun[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    let next = file;
    for (const column of [PML_POSTGRES, PML_PGLITE] as const) {
      session.signal.throwIfAborted();
      const exported = workplace.newPath("exported.pml");
      const runs = await importInto({ column, location: await workplace.newLocation(column), file: next, exported });
      imports.push(runs.imported);
      if (runs.exported !== undefined) exports.push(runs.exported);
      next = exported;
    }
    session.signal.throwIfAborted();
    imports.push(
      (await importInto({ column: BARE_PG, location: await workplace.newLocation(BARE_PG), file })).imported,
    );
    // Copies initialised files: initialising them each time would take longer than all the rest.
    const location = await workplace.newLocation(BARE_PGLITE);
    await cp(pristine, location, { recursive: true });
    imports.push((await importInto({ column: BARE_PGLITE, location, file })).imported);
  }
  const digest = checkRuns([...imports, ...exports]);
  recordTimes("import", imports, session);
  recordGaps("import", imports, session, GAP_GOAL);
  recordWal(imports, session);
  recordLookups(imports, session);
  session.note(`PGlite → PostgreSQL → PGlite: rows_sha256 equal in all ${ROUNDS} rounds (${digest.slice(0, 16)}…)`);
}

interface TransferRun extends TimedTransfer {
  readonly column: Column;
  readonly walBytes?: number;
  /** Milliseconds of lookups right after an import, when the planner may have no statistics of the new rows. */
  readonly lookups?: readonly number[];
}

interface ImportJob {
  readonly column: Column;
  readonly location: string;
  readonly file: string;
  /** Path of an export after the import. */
  readonly exported?: string;
}

async function importInto({
  column,
  location,
  file,
  exported,
}: ImportJob): Promise<{ imported: TransferRun; exported?: TransferRun }> {
  await using engine = await startEngine(column, location);
  const stopWatching = watchWal(column, location);
  try {
    const transfer = await engine.transfer("import", file);
    const walBytes = stopWatching?.();
    const lookups = await engine.measure("lookup", LOOKUPS);
    const imported = { column, ...transfer, lookups, ...(walBytes === undefined ? {} : { walBytes }) };
    if (exported === undefined) return { imported };
    return { imported, exported: { column, ...(await engine.transfer("export", exported)) } };
  } finally {
    stopWatching?.();
  }
}

/** Checks that no transfer lost or changed rows, which would make its time worthless. Returns the common checksum. */
function checkRuns(runs: readonly TransferRun[]): string {
  for (const { column, rows } of runs) {
    if (rows !== ROW_COUNT) throw new Error(`${column}: ${rows} rows were moved instead of ${ROW_COUNT}`);
  }
  const digests = new Map(runs.flatMap(({ column, digest }) => (digest === undefined ? [] : [[digest, column]])));
  const [[digest] = [""]] = digests;
  if (digests.size === 1) return digest;
  throw new Error(`The memory changed on its way: rows_sha256 differ: ${JSON.stringify([...digests])}`);
}

function recordTimes(what: string, runs: readonly TransferRun[], session: BenchSession): void {
  const row = `${what} of ${RECORD_COUNT.toLocaleString("en-US")} records`;
  for (const [column, ofColumn] of Map.groupBy(runs, (run) => run.column)) {
    const value = median(ofColumn.map(({ seconds }) => seconds));
    session.record({ row, unit: "s", column, value });
    session.record({ row, unit: "rows/s", column, value: ROW_COUNT / value });
  }
}

/** Records the median of each transfer's longest gap: a single one may be due to another process. */
function recordGaps(what: string, runs: readonly TransferRun[], session: BenchSession, goal?: Goal): void {
  for (const [column, ofColumn] of Map.groupBy(runs, (run) => run.column)) {
    const gap = median(ofColumn.map(({ longestGapMs }) => longestGapMs));
    const busy = median(ofColumn.map(({ longestBusyMs }) => longestBusyMs));
    const held = goal !== undefined && column === PML_PGLITE ? { goal } : {};
    session.record({ row: `longest event-loop gap, ${what}`, unit: "ms", column, value: gap, ...held });
    session.record({ row: `longest computing, ${what}`, unit: "ms", column, value: busy });
  }
}

function recordWal(runs: readonly TransferRun[], session: BenchSession): void {
  for (const [column, ofColumn] of Map.groupBy(runs, (run) => run.column)) {
    const sizes = ofColumn.flatMap(({ walBytes }) => walBytes ?? []);
    if (sizes.length === 0) continue;
    const goal = column === PML_PGLITE ? { goal: WAL_GOAL } : {};
    session.record({ row: "largest WAL, import", unit: "MB", column, value: Math.max(...sizes) / 1e6, ...goal });
  }
}

function recordLookups(runs: readonly TransferRun[], session: BenchSession): void {
  for (const [column, ofColumn] of Map.groupBy(runs, (run) => run.column)) {
    const value = median(ofColumn.flatMap(({ lookups }) => lookups ?? [])) * 1000;
    session.record({ row: "lookup after import, p50", unit: "µs", column, value });
  }
}
