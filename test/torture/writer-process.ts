import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { until } from "../support/pml.ts";
import { registerCleanup } from "./cleanup.ts";
import type { EngineKind } from "./engine.ts";
import type { DatabaseFindings } from "./transactions.ts";

const FIRST_ACK_LIMIT_MS = 60_000;

export interface WriterOptions {
  readonly home: string;
  readonly ledgerPath: string;
  readonly engine: EngineKind;
}

/** A running writer, seen from the process that will kill it. */
export class WriterProcess {
  readonly #child;
  readonly #ended: Promise<void>;
  readonly #cleanup: Disposable;
  readonly acknowledged: string[] = [];
  /** Its findings when it opened the database; undefined if it was killed before. */
  findings: DatabaseFindings | undefined;
  stderr = "";
  #running = true;

  constructor({ home, ledgerPath, engine }: WriterOptions) {
    const program = join(import.meta.dirname, "writer.ts");
    this.#child = spawn(process.execPath, [program, home, ledgerPath, engine], { stdio: ["ignore", "pipe", "pipe"] });
    this.#cleanup = registerCleanup(() => this.#child.kill("SIGKILL"));
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#note(line));
    this.#ended = once(this.#child, "close").then(() => void (this.#running = false));
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error("the writer did not start");
    return pid;
  }

  get running(): boolean {
    return this.#running;
  }

  /** Resolves to false if there was none: a writer that cannot open its database exits without. */
  async firstAck(): Promise<boolean> {
    await until("the writer acknowledges", () => this.acknowledged.length > 0 || !this.#running, FIRST_ACK_LIMIT_MS);
    return this.acknowledged.length > 0;
  }

  /** Kills it without warning and waits until all its output has arrived. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
    this.#cleanup[Symbol.dispose]();
  }

  /** Freezes it. A thread inside a system call stops when that returns, so this waits for all threads. */
  async freeze(): Promise<void> {
    this.#child.kill("SIGSTOP");
    await until("every thread of the writer stands still", () => !this.#running || isStopped(this.pid));
  }

  #note(line: string): void {
    const [word, rest = ""] = splitOnce(line);
    if (word === "ack") this.acknowledged.push(rest);
    else if (word === "verified") this.findings = JSON.parse(rest) as DatabaseFindings;
  }
}

function splitOnce(line: string): [string, string?] {
  const at = line.indexOf(" ");
  return at === -1 ? [line] : [line.slice(0, at), line.slice(at + 1)];
}

/** The state follows the command's name, which is in brackets and may contain brackets itself. */
function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
  });
}
