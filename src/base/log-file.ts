import { appendFileSync, copyFileSync, mkdirSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";

/**
 * A file of lines that cannot fill the disk: what goes beyond its limit is kept as one older file. It is emptied,
 * not renamed, so that whoever else has it open (a process's stderr) goes on writing into the current one.
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
      // A disk that is full, or a folder that is gone, must not stop what is being told about.
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
