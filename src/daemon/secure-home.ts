import { chmodSync, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { PmlError } from "../base/errors.ts";

/** Files that PML writes and believes. A link among them would lead its writes, or its secrets, elsewhere. */
const FILES: readonly string[] = [
  "token",
  "decision-key",
  "secret.key",
  "trusted.json",
  "connections.json",
  "daemon.json",
  "daemon.log",
  "daemon.log.old",
  "memory.jsonl",
  "owner.lock",
  "owner.pid",
  "runs.log",
  "server-processes.json",
  "shim-secret",
  "start.lock",
];
/** Folders that a person may keep on another disk, by a link. */
const FOLDERS: readonly string[] = ["backups", "data", "logs", "scratch", "uploads"];

/**
 * Takes access to PML's files away from other users, also to those that are already there: the folder may have existed,
 * and been open, before PML. Throws for files that somebody else could have put there.
 */
export function secureHome(home: string): void {
  if (process.platform === "win32") return;
  for (const name of FILES) secureFile(join(home, name));
  for (const name of FOLDERS) secureFolder(join(home, name));
  for (const name of listNames(join(home, "logs"))) secureFile(join(home, "logs", name));
  for (const name of listNames(home))
    if (/^data\.(?:partial|incomplete-\d+)$/.test(name)) secureFolder(join(home, name));
}

function secureFile(path: string): void {
  const stats = findStats(path);
  if (stats === undefined) return;
  if (!stats.isFile()) throw notOurs(path, stats.isSymbolicLink() ? "it is a link" : "it is not a file");
  if (stats.uid !== process.getuid?.()) throw notOurs(path, "it belongs to another user");
  closeToOthers(path, stats);
}

function secureFolder(path: string): void {
  const stats = findStats(path);
  if (stats === undefined || stats.isSymbolicLink()) return;
  if (!stats.isDirectory()) throw notOurs(path, "it is not a folder");
  if (stats.uid === process.getuid?.()) closeToOthers(path, stats);
}

/** A path that cannot be looked at is reported by the first write. */
function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function closeToOthers(path: string, { mode }: Stats): void {
  if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it does not exist yet
  }
}

function notOurs(path: string, reason: string): PmlError {
  return new PmlError("store_unusable", `PML does not use ${path}: ${reason}`, {
    hint: `Look at it (ls -l ${path}) and remove it; PML makes a new one. Or choose another PML_HOME`,
    details: { path },
  });
}
