import type { PGlite } from "@electric-sql/pglite";
import type { DurableFS } from "./durable-fs.ts";
import { isIdle } from "./wire-answer.ts";

/**
 * Tables that grow with each run and are read by key: by the prepared statement that ends a run, and by foreign key
 * checks.
 */
const ANALYSE = "ANALYZE execution_run (id), run_journal (seq), capability_records (id)";
const FIRST_AFTER_BYTES = 1024 * 1024;

/**
 * A generic plan stays until its tables are analysed, and the embedded engine has no autovacuum: a plan made for empty
 * tables would scan them for the life of the process. Called after each answer, this analyses them whenever the written
 * volume has doubled.
 */
export function createPlanKeeper(engine: PGlite, fs: DurableFS): (answer: Uint8Array) => Promise<void> {
  const before = fs.bytesWritten;
  let due = FIRST_AFTER_BYTES;
  return async (answer) => {
    const written = fs.bytesWritten - before;
    if (written < due || !isIdle(answer)) return;
    due = 2 * written;
    // Fails before the first migration and on a full disk; plans are only slower then.
    await engine.exec(ANALYSE).catch(() => undefined);
  };
}
