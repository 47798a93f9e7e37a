import type { PGlite } from "@electric-sql/pglite";

const CHECKPOINT_AFTER_WAL_BYTES = 32 * 1024 * 1024;
const CHECKPOINT_AFTER_MS = 5 * 60 * 1000;
/** How often to look: reading the WAL position costs about as much as a small query. */
const LOOK_AFTER_MESSAGES = 200;
const LOOK_AFTER_BYTES = 1024 * 1024;

/** Ends every answer to a complete request: 'Z', length 5, then I (idle), T (in transaction) or E (failed). */
const READY_FOR_QUERY = [0x5a, 0, 0, 0, 5];
const STATUS_FAILED = "E".charCodeAt(0);

/**
 * The embedded engine has no checkpointer: without this its WAL grows until the disk is full.
 * Called after each answer, it checkpoints by volume and by age, also inside a long transaction.
 */
export function createWalKeeper(engine: PGlite): (requestBytes: number, answer: Uint8Array) => Promise<void> {
  let messages = 0;
  let bytes = 0;
  let checkpointLsn = "0/0";
  let checkpointAt = Date.now();

  return async (requestBytes, answer) => {
    messages += 1;
    bytes += requestBytes;
    const due = Date.now() - checkpointAt > CHECKPOINT_AFTER_MS;
    if (!due && messages < LOOK_AFTER_MESSAGES && bytes < LOOK_AFTER_BYTES) return;
    if (!mayRunStatement(answer)) return;
    messages = 0;
    bytes = 0;
    const { lsn, written } = await readWalPosition(engine, checkpointLsn);
    if (!due && written < CHECKPOINT_AFTER_WAL_BYTES) return;
    await engine.exec("CHECKPOINT");
    checkpointLsn = lsn;
    checkpointAt = Date.now();
  };
}

async function readWalPosition(engine: PGlite, since: string): Promise<{ lsn: string; written: number }> {
  const { rows } = await engine.query<{ lsn: string; written: number }>(
    `SELECT lsn::text, pg_wal_lsn_diff(lsn, $1)::float8 AS written FROM pg_current_wal_insert_lsn() AS lsn`,
    [since],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("pg_current_wal_insert_lsn() returned no row");
  return row;
}

/** In the middle of an extended request, or in a failed transaction, a statement of ours would do harm. */
function mayRunStatement(answer: Uint8Array): boolean {
  const tail = answer.subarray(-READY_FOR_QUERY.length - 1);
  return READY_FOR_QUERY.every((byte, index) => tail[index] === byte) && tail.at(-1) !== STATUS_FAILED;
}
