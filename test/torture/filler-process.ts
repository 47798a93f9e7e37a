import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { until } from "../support/pml.ts";
import { registerCleanup } from "./cleanup.ts";

/** How a wait for the filler ended: it printed the word, it exited, or neither. */
export type WaitResult = "said" | "ended" | "hangs";

/** A running disk filler, seen from the process that controls the space. */
export class FillerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<void>;
  readonly #cleanup: Disposable;
  readonly #said = new Map<string, string[]>();
  #running = true;
  stderr = "";

  constructor(home: string) {
    const program = join(import.meta.dirname, "disk-filler.ts");
    this.#child = spawn(process.execPath, [program, home], { stdio: ["pipe", "pipe", "pipe"] });
    this.#cleanup = registerCleanup(() => this.#child.kill("SIGKILL"));
    this.#child.stdin.on("error", () => undefined); // it may have exited, which the next wait reports
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#note(line));
    this.#ended = once(this.#child, "close").then(() => void (this.#running = false));
  }

  /** Returns the text after the word, for each time it was printed. */
  said(word: string): readonly string[] {
    return this.#said.get(word) ?? [];
  }

  async waitFor(word: string, limitMs: number): Promise<WaitResult> {
    try {
      await until(`the filler says ${word}`, () => this.#said.has(word) || !this.#running, limitMs);
    } catch {
      return "hangs";
    }
    return this.#said.has(word) ? "said" : "ended";
  }

  goOn(): void {
    this.#child.stdin.write("go on\n");
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
    this.#cleanup[Symbol.dispose]();
  }

  #note(line: string): void {
    const [word = ""] = line.split(" ", 1);
    this.#said.set(word, [...this.said(word), line.slice(word.length + 1)]);
  }
}
