import type { PGlite } from "@electric-sql/pglite";
import type { DurableFS } from "./durable-fs.ts";

/** Of all that is written, most is WAL; the rest are pages that had to make room. */
const CHECKPOINT_AFTER_BYTES = 32 * 1024 * 1024;
const CHECKPOINT_AFTER_MS = 5 * 60 * 1000;

/** Ends every answer to a complete request: 'Z', length 5, then I (idle), T (in transaction) or E (failed). */
const READY_FOR_QUERY = [0x5a, 0, 0, 0, 5];
const STATUS_FAILED = "E".charCodeAt(0);

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
    await engine.exec("CHECKPOINT");
    bytesAtCheckpoint = fs.bytesWritten;
    checkpointAt = Date.now();
  };
}

/** In the middle of an extended request, or in a failed transaction, a statement of ours would do harm. */
function mayRunStatement(answer: Uint8Array): boolean {
  const tail = answer.subarray(-READY_FOR_QUERY.length - 1);
  return READY_FOR_QUERY.every((byte, index) => tail[index] === byte) && tail.at(-1) !== STATUS_FAILED;
}
