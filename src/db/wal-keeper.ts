import type { PGlite } from "@electric-sql/pglite";
import type { DurableFS } from "./durable-fs.ts";
import { mayRunStatement } from "./wire-answer.ts";

/** Of all that is written, most is WAL; the rest are pages that had to make room. */
const CHECKPOINT_AFTER_BYTES = 32 * 1024 * 1024;
const CHECKPOINT_AFTER_MS = 5 * 60 * 1000;

/**
 * The embedded engine has no checkpointer: without this its WAL grows until the disk is full.
 * Called after each answer, it checkpoints by volume and by age, also inside a long transaction.
 */
export function createWalKeeper(engine: PGlite, fs: DurableFS): (answer: Uint8Array) => Promise<void> {
  let bytesAtCheckpoint = fs.bytesWritten;
  let checkpointAt = Date.now();
  return async (answer) => {
    const written = fs.bytesWritten - bytesAtCheckpoint;
    const old = written > 0 && Date.now() - checkpointAt > CHECKPOINT_AFTER_MS;
    if ((written < CHECKPOINT_AFTER_BYTES && !old) || !mayRunStatement(answer)) return;
    // It fails while the disk is full. The next one makes up for it, and nothing is lost by waiting.
    await engine.exec("CHECKPOINT").catch(() => undefined);
    bytesAtCheckpoint = fs.bytesWritten;
    checkpointAt = Date.now();
  };
}
