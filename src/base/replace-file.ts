import { chmodSync, chownSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Replaces the content of a file atomically: readers see the old or the new content, never a part. Replaces the target of a
 * symbolic link, not the link; keeps the owner, and the mode unless one is given.
 */
export function replaceFile(path: string, content: string | Uint8Array, mode?: number): void {
  const real = resolveLink(path);
  const before = statSync(real, { throwIfNoEntry: false });
  mkdirSync(dirname(real), { recursive: true, mode: 0o700 });
  const partial = `${real}.${process.pid}.partial`;
  try {
    rmSync(partial, { force: true });
    // Never through a link that somebody put there.
    writeFileSync(partial, content, { mode: 0o600, flush: true, flag: "wx" });
    chmodSync(partial, mode ?? (before === undefined ? 0o600 : before.mode & 0o777));
    if (before !== undefined && process.getuid?.() === 0) chownSync(partial, before.uid, before.gid);
    renameSync(partial, real);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** Resolves symbolic links; returns the path itself if there is no file yet. */
export function resolveLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
