import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/**
 * A lock held by the kernel (through SQLite's file locks): it ends with the process, however that ends. A pid or a
 * time in a file would outlive it.
 */
export type FileLock = Disposable;

/** Keeps handles reachable: garbage collection would close them and release the locks. */
const held = new Set<DatabaseSync>();

/** Takes the lock; returns undefined if another process, or this one, holds it. */
export function tryFileLock(path: string): FileLock | undefined {
  createPrivately(path);
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    // DELETE mode has no shared-memory file through which readers could get in.
    file.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (error) {
    file.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  held.add(file);
  return {
    [Symbol.dispose]() {
      held.delete(file);
      file.close();
    },
  };
}

/** Other users who can read the file could lock it. An existing one is left alone: closing it would release locks. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}
