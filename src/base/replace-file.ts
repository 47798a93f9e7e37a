import { chmodSync, chownSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Replaces what a file holds at once: whoever reads it gets the old or the new, never a part. A link stays
 * a link, its target is replaced; the owner stays, and the mode unless one is given.
 */
export function replaceFile(path: string, content: string | Uint8Array, mode?: number): void {
  const real = resolveLink(path);
  const before = statSync(real, { throwIfNoEntry: false });
  mkdirSync(dirname(real), { recursive: true, mode: 0o700 });
  const partial = `${real}.${process.pid}.partial`;
  try {
    writeFileSync(partial, content, { mode: 0o600, flush: true });
    chmodSync(partial, mode ?? (before === undefined ? 0o600 : before.mode & 0o777));
    if (before !== undefined && process.getuid?.() === 0) chownSync(partial, before.uid, before.gid);
    renameSync(partial, real);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** Where a file really is; the path itself when there is none yet. */
export function resolveLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
