import { createHash } from "node:crypto";
import { constants, copyFileSync, existsSync, lstatSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PmlError } from "../base/errors.ts";
import { replaceFile } from "../base/replace-file.ts";
import type { ClientFile } from "./connection.ts";

/** A client's file that PML wrote, recorded so that it can be restored byte for byte. */
interface WrittenFile {
  /** The name of PML in it. */
  readonly name: string;
  /** Checksum of the written file; any later change makes it differ. */
  readonly sha256: string;
  /** The backup of the previous file; undefined if there was none. */
  readonly backup?: string;
}

interface FileWrite {
  readonly name: string;
  readonly after: string;
  /** True if the file had PML's entry before. */
  readonly hadPml: boolean;
}

/** The record in PML_HOME of clients' files that PML wrote, by their real paths. */
export class ConnectionRecord {
  readonly #path: string;
  readonly #files: Record<string, WrittenFile>;

  constructor(home: string) {
    this.#path = join(home, "connections.json");
    this.#files = readRecord(this.#path);
  }

  /**
   * Writes the file, with a backup of the previous one beside it. A backup that already contains PML's entry is only
   * for people: disconnecting must not bring an older entry back.
   */
  write(file: ClientFile, { name, after, hadPml }: FileWrite): string | undefined {
    const { real, text } = file;
    const known = this.#find(file, name);
    const backup = known === undefined ? makeBackup(real, text) : known.backup;
    replaceUnchanged(file, after);
    if (known === undefined && hadPml) this.#forget(real);
    else {
      this.#files[real] = { name, sha256: hash(after), ...(backup === undefined ? {} : { backup }) };
      this.#save();
    }
    return backup;
  }

  /** Restores the previous file; returns undefined if the file has changed since. */
  restore(file: ClientFile, name: string): "restored" | "deleted" | undefined {
    const { real } = file;
    const known = this.#find(file, name);
    if (known === undefined || (known.backup !== undefined && !existsSync(known.backup))) return undefined;
    this.#forget(real);
    if (known.backup === undefined) {
      rmSync(real);
      return "deleted";
    }
    replaceFile(real, readFileSync(known.backup));
    rmSync(known.backup);
    return "restored";
  }

  /** Writes the file without PML's entry. Returns the backup that still exists. */
  remove(file: ClientFile, after: string): string | undefined {
    const backup = this.#files[file.real]?.backup;
    replaceUnchanged(file, after);
    this.#forget(file.real);
    return backup !== undefined && existsSync(backup) ? backup : undefined;
  }

  #forget(real: string): void {
    if (!Object.hasOwn(this.#files, real)) return;
    delete this.#files[real];
    this.#save();
  }

  #find({ real, text }: ClientFile, name: string): WrittenFile | undefined {
    const known = this.#files[real];
    if (known === undefined || text === undefined || known.name !== name) return undefined;
    return known.sha256 === hash(text) ? known : undefined;
  }

  #save(): void {
    replaceFile(this.#path, `${JSON.stringify(this.#files, undefined, 2)}\n`, 0o600);
  }
}

/** Refuses to overwrite a change by a running client. */
function replaceUnchanged({ path, real, text }: ClientFile, after: string): void {
  if (text !== undefined && readFileSync(real, "utf8") !== text) throw changedMeanwhile(path);
  replaceFile(real, after);
}

function changedMeanwhile(path: string): PmlError {
  return new PmlError(
    "client_config_unusable",
    `${path} was changed by another program just now. Nothing was changed`,
    {
      hint: "Run the command again",
    },
  );
}

function makeBackup(real: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  let backup = `${real}.pml-backup`;
  for (let number = 2; isTaken(backup); number += 1) backup = `${real}.pml-backup-${number}`;
  copyFileSync(real, backup, constants.COPYFILE_EXCL);
  return backup;
}

/** Also true for a link to nothing, through which a copy would write somewhere else. */
function isTaken(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function readRecord(path: string): Record<string, WrittenFile> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, WrittenFile>;
  } catch {
    return {}; // an entry can still be removed without it, only not byte for byte
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
