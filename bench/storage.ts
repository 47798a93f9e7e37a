import type { Benchmark, BenchSession } from "./support/benchmark.ts";
import { COLUMNS } from "./storage/engine.ts";
import { type EngineHandle, startEngine } from "./storage/engine-handle.ts";
import { measureFootprint } from "./storage/footprint.ts";
import { runSql, seedSql } from "./storage/sample-data.ts";
import { measureLookups, measureWrites } from "./storage/speed.ts";
import { measureDaemonStarts, measureDatabaseStarts } from "./storage/start.ts";
import { measureExports, measureImports } from "./storage/transfer.ts";
import { openWorkplace, type Workplace } from "./storage/workplace.ts";

export const storage: Benchmark = {
  title: "Storage: PML on both engines, and the same work without PML",
  columns: COLUMNS,
  async run(session) {
    await using workplace = await openWorkplace();
    session.note("* in process, with its default options: not durable, a power cut may lose the database");
    session.note(`PostgreSQL ${workplace.serverVersion}, local, default settings (durable)`);
    session.note("PML runs from its sources here: the published build loads faster and takes less memory");
    const file = await measureFilled(workplace, session);
    await measureImports(file, workplace, session);
    await measureDatabaseStarts(workplace, session);
    await measureDaemonStarts(workplace, session);
    await measureFootprint(file, workplace, session);
  },
};

/** Measures on open, filled engines. Returns an export of their memory. */
async function measureFilled(workplace: Workplace, session: BenchSession): Promise<string> {
  session.progress("filling four databases");
  await using engines = new AsyncDisposableStack();
  const filled: EngineHandle[] = [];
  for (const column of COLUMNS) {
    filled.push(engines.use(await startEngine(column, await workplace.newLocation(column))));
  }
  await Promise.all(filled.map((engine) => engine.script(seedSql)));
  await measureLookups(filled, session);
  // Exports before any other write, so that all have the same memory.
  const file = await measureExports(filled, workplace, session);
  for (const engine of filled) await engine.script(runSql);
  await measureWrites(filled, session);
  return file;
}
