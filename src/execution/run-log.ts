import { closeSync, constants, ftruncateSync, openSync, readFileSync, write, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { syncPath } from "../base/sync-path.ts";

const { O_APPEND, O_CREAT, O_DSYNC, O_WRONLY } = constants;
const writeTo = promisify(write);

/** The file is emptied when it has been settled for a while, or is this large: that costs as much as a line. */
const EMPTY_AFTER_MS = 1_000;
const EMPTY_AT_BYTES = 1024 * 1024;

/**
 * A disk that is usually quicker than this is waited for on the spot: handing a write to another thread and hearing
 * of it takes longer. Whether a slow one has become quick is tried now and then.
 */
const QUICK_MS = 1;
const STEP_MS = 0.05;
const TRY_AGAIN_AFTER = 500;
const LARGE_BYTES = 64 * 1024;

/**
 * Lines that are on disk before anybody is told of what they say, and gone again soon after the database has
 * all of them. What is in it at a start was left by a process that died, and may be in the database or not.
 */
export class RunLog implements AsyncDisposable {
  /** Without a last line that was never whole: nobody was told of that one. */
  readonly left: readonly string[];
  readonly #file: number;
  #size: number;
  #unsettled: number;
  #gathering: string[] | undefined;
  #emptying: NodeJS.Timeout | undefined;
  #isClosed = false;
  #usualMs = 0;
  #slowWrites = 0;
  #written: Promise<void> = Promise.resolve();

  constructor(path: string) {
    // What is written so is on disk when the call returns.
    this.#file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_DSYNC, 0o600);
    syncPath(dirname(path)); // or it could be gone after a power cut
    const text = readFileSync(path, "utf8");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    this.#size = Buffer.byteLength(whole);
    this.left = whole.split("\n").slice(0, -1);
    this.#unsettled = this.left.length;
    ftruncateSync(this.#file, this.#size);
  }

  /** Whether it should not grow any more before what it says is settled. */
  get isLarge(): boolean {
    return this.#size > EMPTY_AT_BYTES;
  }

  /** Resolves when the line is on disk. Lines that come during a write share the next one. */
  keep(line: string): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("the file is closed"));
    if (this.#gathering === undefined) {
      const lines = (this.#gathering = []);
      this.#written = this.#written
        .catch(() => undefined) // told to those whose lines it had
        .then(() => this.#write(lines));
    }
    this.#gathering.push(line);
    return this.#written;
  }

  /** The database has what one line says. */
  settle(): void {
    this.#unsettled -= 1;
    if (this.#isClosed) return;
    if (this.isLarge) this.#empty();
    this.#emptying ??= setTimeout(() => this.#empty(), EMPTY_AFTER_MS).unref();
  }

  /** What is on its way is still written, and stays for the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#written.catch(() => undefined);
    this.#empty();
    closeSync(this.#file);
  }

  #empty(): void {
    clearTimeout(this.#emptying);
    this.#emptying = undefined;
    if (this.#unsettled === 0 && this.#gathering === undefined) this.#cut(0);
  }

  async #write(lines: readonly string[]): Promise<void> {
    this.#gathering = undefined;
    this.#unsettled += lines.length;
    const content = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    try {
      await this.#writeAll(content);
      this.#size += content.length;
    } catch (error) {
      this.#unsettled -= lines.length;
      this.#cut(this.#size); // a part of a line would spoil the next one
      throw error;
    }
  }

  async #writeAll(content: Buffer): Promise<void> {
    const isQuick = this.#usualMs < QUICK_MS && content.length < LARGE_BYTES;
    for (let sent = 0; sent < content.length;) {
      sent += isQuick ? this.#writeHere(content, sent) : await this.#writeElsewhere(content, sent);
    }
  }

  #writeHere(content: Buffer, from: number): number {
    const started = performance.now();
    const written = writeSync(this.#file, content, from);
    // Moves towards the median: on a busy machine single writes take long on any disk.
    this.#usualMs += performance.now() - started > this.#usualMs ? STEP_MS : -STEP_MS;
    return written;
  }

  async #writeElsewhere(content: Buffer, from: number): Promise<number> {
    const { bytesWritten } = await writeTo(this.#file, content, from);
    this.#slowWrites += 1;
    if (this.#slowWrites % TRY_AGAIN_AFTER === 0) this.#usualMs = 0;
    return bytesWritten;
  }

  #cut(size: number): void {
    ftruncateSync(this.#file, size);
    this.#size = size;
  }
}
