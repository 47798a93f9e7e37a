import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { uploadToDaemon } from "../../src/daemon/daemon-client.ts";
import { routes } from "../../src/contract/routes.ts";
import type { Goal, BenchSession } from "../support/benchmark.ts";
import { median } from "../support/statistics.ts";
import { type Daemon, type ProcessMemory, readMemory, startDaemon } from "./daemon.ts";
import { type Column, PML_PGLITE, PML_POSTGRES } from "./engine.ts";
import { ROW_COUNT } from "./sample-data.ts";
import type { Workplace } from "./workplace.ts";

const IDLE_MS = 5_000;
/** Averages over several: the timing of garbage collection moves these figures by tens of megabytes. */
const DAEMONS_EACH = 3;
const RSS_GOAL: Goal = { atMost: 300 };

interface Footprint {
  readonly column: Column;
  readonly idle: ProcessMemory;
  readonly after: ProcessMemory;
}

/** Measures the memory of the daemon: idle, after an import, and at its peak. */
export async function measureFootprint(file: string, workplace: Workplace, session: BenchSession): Promise<void> {
  session.progress("memory of the daemon");
  await using running = new AsyncDisposableStack();
  const daemons: { column: Column; daemon: Daemon }[] = [];
  for (let count = 0; count < DAEMONS_EACH; count += 1) {
    for (const column of [PML_PGLITE, PML_POSTGRES] as const) {
      session.signal.throwIfAborted();
      daemons.push({ column, daemon: running.use(await startAt(column, workplace)) });
    }
  }
  await sleep(IDLE_MS, undefined, { signal: session.signal });
  const footprints: Footprint[] = [];
  for (const { column, daemon } of daemons) {
    session.signal.throwIfAborted();
    const idle = readMemory(daemon.pid);
    await importFile(daemon, file);
    const after = readMemory(daemon.pid);
    if (idle === undefined || after === undefined) return; // not available on this system
    footprints.push({ column, idle, after });
  }
  recordFootprints(footprints, session);
}

async function startAt(column: Column, workplace: Workplace): Promise<Daemon> {
  const location = await workplace.newLocation(column);
  return column === PML_POSTGRES ? startDaemon(workplace.newPath("home"), location) : startDaemon(location);
}

async function importFile({ address }: Daemon, file: string): Promise<void> {
  const { added } = await uploadToDaemon(address, routes.importMemory, createReadStream(file));
  if (added !== ROW_COUNT) throw new Error(`The daemon imported ${added} rows instead of ${ROW_COUNT}`);
}

function recordFootprints(footprints: readonly Footprint[], session: BenchSession): void {
  for (const [column, ofColumn] of Map.groupBy(footprints, (footprint) => footprint.column)) {
    const record = (row: string, read: (footprint: Footprint) => number, goal?: Goal): void => {
      const held = goal !== undefined && column === PML_PGLITE ? { goal } : {};
      session.record({ row, unit: "MB", column, value: median(ofColumn.map(read)), ...held });
    };
    record("daemon RSS, idle 5 s", ({ idle }) => idle.rssMb, RSS_GOAL);
    record("daemon RSS, after import", ({ after }) => after.rssMb, RSS_GOAL);
    record("daemon peak RSS, start", ({ idle }) => idle.peakMb);
    record("daemon peak RSS, import", ({ after }) => after.peakMb);
  }
}
