import { closeSync, constants, ftruncateSync, openSync, readFileSync, write, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { syncPath } from "../base/sync-path.ts";

const { O_APPEND, O_CREAT, O_DSYNC, O_WRONLY } = constants;
const writeTo = promisify(write);

/** Truncates the log once it is idle for a while, or at this size: truncating costs as much as a line. */
const TRUNCATE_AFTER_MS = 1_000;
const TRUNCATE_AT_BYTES = 1024 * 1024;

/**
 * A disk that is usually faster than this is written synchronously, since handing a write to another thread takes
 * longer. Probes now and then whether a slow disk has become fast.
 */
const FAST_MS = 1;
const STEP_MS = 0.05;
const PROBE_AFTER_WRITES = 500;
const LARGE_BYTES = 64 * 1024;

/**
 * A log of lines that are durable before their writers continue, and removed soon after the database has all of them.
 * Lines found at start come from a process that died; the database may or may not have them.
 */
export class RunLog implements AsyncDisposable {
  /** Without an incomplete last line, whose writer never got an answer. */
  readonly leftover: readonly string[];
  readonly #file: number;
  #size: number;
  #unsettled: number;
  #batch: string[] | undefined;
  #truncating: NodeJS.Timeout | undefined;
  #isClosed = false;
  #usualMs = 0;
  #slowWrites = 0;
  #written: Promise<void> = Promise.resolve();

  constructor(path: string) {
    // O_DSYNC: a write is durable when the call returns.
    this.#file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_DSYNC, 0o600);
    syncPath(dirname(path)); // makes the new directory entry durable
    const text = readFileSync(path, "utf8");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    this.#size = Buffer.byteLength(whole);
    this.leftover = whole.split("\n").slice(0, -1);
    this.#unsettled = this.leftover.length;
    ftruncateSync(this.#file, this.#size);
  }

  /** True if the log should be drained before it grows further. */
  get isLarge(): boolean {
    return this.#size > TRUNCATE_AT_BYTES;
  }

  /** Resolves when the line is durable. Lines added during a write share the next one. */
  append(line: string): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("the run log is closed"));
    if (this.#batch === undefined) {
      const lines = (this.#batch = []);
      this.#written = this.#written
        .catch(() => undefined) // the writers of those lines got the error
        .then(() => this.#write(lines));
    }
    this.#batch.push(line);
    return this.#written;
  }

  /** Marks one line as applied to the database. */
  settle(): void {
    this.#unsettled -= 1;
    if (this.#isClosed) return;
    if (this.isLarge) this.#truncate();
    this.#truncating ??= setTimeout(() => this.#truncate(), TRUNCATE_AFTER_MS).unref();
  }

  /** Finishes pending writes; lines that are not applied stay for the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#written.catch(() => undefined);
    this.#truncate();
    closeSync(this.#file);
  }

  #truncate(): void {
    clearTimeout(this.#truncating);
    this.#truncating = undefined;
    if (this.#unsettled === 0 && this.#batch === undefined) this.#cut(0);
  }

  async #write(lines: readonly string[]): Promise<void> {
    this.#batch = undefined;
    this.#unsettled += lines.length;
    const content = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    try {
      await this.#writeAll(content);
      this.#size += content.length;
    } catch (error) {
      this.#unsettled -= lines.length;
      this.#cut(this.#size); // a partial line would corrupt the next one
      throw error;
    }
  }

  async #writeAll(content: Buffer): Promise<void> {
    const isFast = this.#usualMs < FAST_MS && content.length < LARGE_BYTES;
    for (let sent = 0; sent < content.length;) {
      sent += isFast ? this.#writeSync(content, sent) : await this.#writeAsync(content, sent);
    }
  }

  #writeSync(content: Buffer, from: number): number {
    const started = performance.now();
    const written = writeSync(this.#file, content, from);
    // Moves towards the median: on a busy machine single writes take long on any disk.
    this.#usualMs += performance.now() - started > this.#usualMs ? STEP_MS : -STEP_MS;
    return written;
  }

  async #writeAsync(content: Buffer, from: number): Promise<number> {
    const { bytesWritten } = await writeTo(this.#file, content, from);
    this.#slowWrites += 1;
    if (this.#slowWrites % PROBE_AFTER_WRITES === 0) this.#usualMs = 0;
    return bytesWritten;
  }

  #cut(size: number): void {
    ftruncateSync(this.#file, size);
    this.#size = size;
  }
}
