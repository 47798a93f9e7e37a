import { appendFileSync, copyFileSync, mkdirSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";

/**
 * A file of lines that cannot fill the disk: at its limit it is copied to one older file and truncated. Renaming would
 * leave other writers, such as a process's stderr, with the older file.
 */
export class LogFile {
  readonly path: string;
  readonly #limit: number;
  #size: number | undefined;

  constructor(path: string, limitBytes: number) {
    this.path = path;
    this.#limit = limitBytes;
  }

  write(lines: string): void {
    try {
      this.#size ??= this.#open();
      if (this.#size > this.#limit) this.#rotate();
      appendFileSync(this.path, lines, { mode: 0o600 });
      this.#size += Buffer.byteLength(lines);
    } catch {
      // A full disk or a missing folder must not stop the work that is logged.
    }
  }

  #open(): number {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  #rotate(): void {
    copyFileSync(this.path, olderLog(this.path));
    truncateSync(this.path);
    this.#size = 0;
  }
}

export function olderLog(path: string): string {
  return `${path}.old`;
}
