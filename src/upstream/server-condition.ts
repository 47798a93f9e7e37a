import type { Logger } from "../base/log.ts";
import { ServerUnavailable } from "./failures.ts";
import type { ServerState } from "./server-status.ts";
import type { StdioProcess } from "./connection/stdio-process.ts";

/** State of a server, its last error and the stderr of that time. */
export class ServerCondition {
  readonly #name: string;
  readonly #log: Logger;
  #state: ServerState = "idle";
  #since = new Date();
  #startMs: number | undefined;
  #stderr: readonly string[] = [];
  lastError: string | undefined;

  constructor(name: string, log: Logger) {
    this.#name = name;
    this.#log = log;
  }

  get state(): ServerState {
    return this.#state;
  }

  get since(): Date {
    return this.#since;
  }

  /** Duration of the last start, including the lists. */
  get startMs(): number | undefined {
    return this.#startMs;
  }

  enter(state: ServerState): void {
    if (this.#state === "stopped") return; // stopped is final
    const now = new Date();
    if (state === "ready") this.#startMs = now.getTime() - this.#since.getTime();
    this.#state = state;
    this.#since = now;
    const server = this.#name;
    if (state === "ready") this.#log.info({ server, ms: this.#startMs }, "server connected");
    else if (state === "backoff") this.#log.warn({ server, error: this.lastError }, "server not available");
    else this.#log.debug({ server, state }, "server state");
  }

  /** Returns the stderr of the process, or of the previous one while it is empty. */
  lastWords(process: StdioProcess | undefined): readonly string[] {
    const tail = process?.stderrTail ?? [];
    return tail.length > 0 ? tail : this.#stderr;
  }

  keepWords(process: StdioProcess | undefined): void {
    this.#stderr = [...(process?.stderrTail ?? [])];
  }

  unavailable(next?: string, reason = this.lastError): ServerUnavailable {
    const last = this.#stderr.at(-1);
    const parts = [
      `Server ${this.#name} is not available: ${reason ?? "it is not connected"}`,
      ...(last === undefined ? [] : [`its last words: ${last.slice(0, 300)}`]),
      ...(next === undefined ? [] : [next]),
    ];
    return new ServerUnavailable(parts.join("; "));
  }
}
