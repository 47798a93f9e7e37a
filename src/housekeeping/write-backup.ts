import { createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import type { DatabaseClient } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import type { Scope } from "../registry/scope.ts";
import type { ExportFooter } from "./export-format.ts";
import { exportMemory } from "./export-memory.ts";

export interface BackupResult extends ExportFooter {
  readonly path: string;
}

const BACKUP_NAME = /^pml-.*\.pml$/;

export function backupDirectory(home: string): string {
  return join(home, "backups");
}

/** The place for backups, and how many stay there. */
export interface BackupFolder {
  readonly directory: string;
  readonly keep: number;
}

/** Writes an export of the scope into the folder and removes the oldest beyond `keep`. */
export async function writeBackup(
  client: DatabaseClient,
  scope: Scope,
  { directory, keep }: BackupFolder,
): Promise<BackupResult> {
  const stamp = new Date().toISOString().replaceAll(":", "-");
  const path = join(directory, `pml-${stamp}.pml`);
  const footer = await writeExportFile(client, scope, path);
  const old = (await listBackups(directory)).slice(0, -keep);
  for (const name of old) await rm(join(directory, name), { force: true });
  return { path, ...footer };
}

/** Lists the backups, oldest first. */
export async function listBackups(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []); // no backup yet
  return names.filter((name) => BACKUP_NAME.test(name)).toSorted();
}

/** Gives the file its final name only when it is complete and durable. */
async function writeExportFile(client: DatabaseClient, scope: Scope, path: string): Promise<ExportFooter> {
  const partial = `${path}.partial`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = createWriteStream(partial, { mode: 0o600, flush: true });
    await once(file, "open");
    const footer = await exportMemory(client, scope, async (lines) => {
      if (!file.write(lines)) await once(file, "drain");
    });
    file.end();
    await finished(file);
    await rename(partial, path);
    await using directory = await open(dirname(path), "r");
    await directory.sync();
    return footer;
  } catch (cause) {
    await rm(partial, { force: true }).catch(() => undefined); // must not hide the original error
    if (cause instanceof PmlError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("file_unusable", `The backup ${path} could not be written: ${reason}`, {
      hint: "Free some space or fix the permissions of that directory, then: pml backup",
      cause,
    });
  }
}
