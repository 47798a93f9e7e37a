import { DatabaseSync } from "node:sqlite";

/**
 * A lock that the kernel holds (through SQLite's file locks), so it ends with the process however the
 * process ends. A pid or a time in a file would not.
 */
export type FileLock = Disposable;

/** Garbage collection would close the handle and drop the lock while its owner still works. */
const held = new Set<DatabaseSync>();

/** Takes the lock, or returns undefined when another process (or this one) has it. */
export function tryFileLock(path: string): FileLock | undefined {
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    // DELETE mode keeps no shared-memory file beside it, which readers could get in by.
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

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}
