import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PmlError } from "../base/errors.ts";
import { type FileLock, tryFileLock } from "../base/file-lock.ts";

/** The exclusive right of one process to open the data under a PML_HOME, until it ends. */
export interface Ownership extends Disposable {
  readonly home: string;
}

export function acquireOwnership(home: string): Ownership {
  ensureHome(home);
  const lock = takeLock(home);
  if (lock === undefined) throw busyError(home);
  return { home, [Symbol.dispose]: () => lock[Symbol.dispose]() };
}

export function ensureHome(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw homeError(home, cause);
  }
}

/** True if a process holds the lock now. */
export function isOwned(home: string): boolean {
  const lock = tryFileLock(join(home, "owner.lock"));
  lock?.[Symbol.dispose]();
  return lock === undefined;
}

function takeLock(home: string): FileLock | undefined {
  let lock: FileLock | undefined;
  try {
    lock = tryFileLock(join(home, "owner.lock"));
    if (lock !== undefined) writeFileSync(ownerFile(home), `${process.pid}\n`, { mode: 0o600 });
    return lock;
  } catch (cause) {
    lock?.[Symbol.dispose]();
    throw homeError(home, cause);
  }
}

/** Only for messages: the lock decides about ownership, never this file. */
function ownerFile(home: string): string {
  return join(home, "owner.pid");
}

function findOwnerPid(home: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(ownerFile(home), "utf8"), 10) || undefined;
  } catch {
    return undefined; // no owner has written it yet
  }
}

function busyError(home: string): PmlError {
  const pid = findOwnerPid(home);
  return new PmlError("store_busy", `${home} is owned by another process${pid ? ` (pid ${pid})` : ""}`, {
    hint: "Use the running one (pml status), stop it (pml down), or choose another directory: PML_HOME=/other/dir pml serve",
    details: { home, ...(pid ? { pid } : {}) },
  });
}

function homeError(home: string, cause: unknown): PmlError {
  return isDiskFull(cause) ? diskFullError(home, cause) : unusableHome(home, cause);
}

const SQLITE_FULL = 13;

function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("errcode" in error && error.errcode === SQLITE_FULL) || ("code" in error && error.code === "ENOSPC");
}

function diskFullError(home: string, cause: unknown): PmlError {
  return new PmlError("disk_full", `No space left in ${home}`, {
    hint: "Free about 100 MB, or choose another place: PML_HOME=/other/dir pml serve",
    details: { home },
    cause,
  });
}

function unusableHome(home: string, cause: unknown): PmlError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new PmlError("store_unusable", `Cannot use ${home} as PML_HOME: ${reason}`, {
    hint: "Make it a directory you can write to, or choose another one: PML_HOME=/other/dir pml serve",
    details: { home },
    cause,
  });
}
