import type { PGlite } from "@electric-sql/pglite";
import type { DurableFS } from "./durable-fs.ts";
import { mayRunStatement } from "./wire-answer.ts";

/** Counts all writes: most are WAL, the rest are evicted pages. */
const CHECKPOINT_AFTER_BYTES = 32 * 1024 * 1024;
const CHECKPOINT_AFTER_MS = 5 * 60 * 1000;

/**
 * The embedded engine has no checkpointer: without this its WAL grows until the disk is full. Called after each answer,
 * it checkpoints by volume and by age, also inside a long transaction.
 */
export function createWalKeeper(engine: PGlite, fs: DurableFS): (answer: Uint8Array) => Promise<void> {
  let bytesAtCheckpoint = fs.bytesWritten;
  let checkpointAt = Date.now();
  return async (answer) => {
    const written = fs.bytesWritten - bytesAtCheckpoint;
    const old = written > 0 && Date.now() - checkpointAt > CHECKPOINT_AFTER_MS;
    if ((written < CHECKPOINT_AFTER_BYTES && !old) || !mayRunStatement(answer)) return;
    // Fails while the disk is full; the next checkpoint makes up for it, and nothing is lost.
    await engine.exec("CHECKPOINT").catch(() => undefined);
    bytesAtCheckpoint = fs.bytesWritten;
    checkpointAt = Date.now();
  };
}
