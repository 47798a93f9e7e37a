import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PmlError } from "../base/errors.ts";
import { replaceFile } from "../base/replace-file.ts";
import type { ClientFile } from "./connection.ts";

/** What PML wrote into a client's file, so that it can be taken back to the byte. */
interface WrittenFile {
  /** What PML is called in it. */
  readonly name: string;
  /** Of the file after it was written: whoever changes it after that changes this too. */
  readonly sha256: string;
  /** What was there before; undefined: nothing was. */
  readonly backup?: string;
}

interface Writing {
  readonly name: string;
  readonly after: string;
  /** Whether the file had PML's entry before. */
  readonly hadPml: boolean;
}

/** The note in PML_HOME about clients' files that PML wrote, by their real paths. */
export class ConnectionRecord {
  readonly #path: string;
  readonly #files: Record<string, WrittenFile>;

  constructor(home: string) {
    this.#path = join(home, "connections.json");
    this.#files = readRecord(this.#path);
  }

  /**
   * Writes the file, with a backup beside it of what was there before PML. Where that was not the state without
   * PML's entry, the backup is only for people: taking the entry out must not bring an older one back.
   */
  write(file: ClientFile, { name, after, hadPml }: Writing): string | undefined {
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

  /** Puts back what was there before PML; undefined when somebody has changed the file since. */
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

  /** Writes the file without PML's entry. Returns the backup that is still there. */
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

/** Running clients write their files too. */
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
  for (let number = 2; existsSync(backup); number += 1) backup = `${real}.pml-backup-${number}`;
  copyFileSync(real, backup);
  return backup;
}

function readRecord(path: string): Record<string, WrittenFile> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, WrittenFile>;
  } catch {
    return {}; // without it an entry can still be taken out, only not to the byte
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
