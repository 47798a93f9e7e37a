import type { PGlite } from "@electric-sql/pglite";
import type { DurableFS } from "./durable-fs.ts";
import { isIdle } from "./wire-answer.ts";

/** What grows with each run and is read by key: in the prepared statement that ends a run, and where foreign keys are checked. */
const ANALYSE = "ANALYZE execution_run (id), run_journal (seq), capability_records (id)";
const FIRST_AFTER_BYTES = 1024 * 1024;

/**
 * A plan that is made once stays until its tables are analysed, which the embedded engine does not do by itself: made while
 * they were empty, it would read them from end to end for as long as the process lives. Called after each answer, it has them
 * analysed whenever twice as much has been written.
 */
export function createPlanKeeper(engine: PGlite, fs: DurableFS): (answer: Uint8Array) => Promise<void> {
  const before = fs.bytesWritten;
  let due = FIRST_AFTER_BYTES;
  return async (answer) => {
    const written = fs.bytesWritten - before;
    if (written < due || !isIdle(answer)) return;
    due = 2 * written;
    // It fails before the first migration and while the disk is full; plans are only slower then.
    await engine.exec(ANALYSE).catch(() => undefined);
  };
}
