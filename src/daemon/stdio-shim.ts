import type { Duplex, Readable, Writable } from "node:stream";
import { EXIT, toErrorReport } from "../errors.ts";
import { splitLines } from "../lines.ts";
import { GOODBYE } from "../mcp/stdio-bridge.ts";
import { openStdio } from "./daemon-client.ts";
import { readDaemonAddress } from "./daemon-file.ts";
import { failureLine, isAnswered, isRepeatable, PendingRequests } from "./pending-requests.ts";
import { ensureDaemon } from "./start-daemon.ts";
import { writeTogether } from "../write-together.ts";

export interface ShimOptions {
  readonly home: string;
  readonly serveArguments: readonly string[];
  readonly input: Readable;
  readonly output: Writable;
  readonly errors: Writable;
}

/** How often a shim whose daemon was ended on purpose looks whether somebody started it again. */
const LOOK_FOR_DAEMON_MS = 2_000;
const ADOPTION_ATTEMPTS = 10;
/** How long answers may still come after the client has closed its end, from a daemon that runs or is starting. */
const LAST_ANSWERS_MS = 2_500;
const LAST_START_MS = 15_000;

/**
 * What MCP clients start: passes lines between the client and the daemon of the PML_HOME, starts that
 * when there is none, and moves to the next one when it dies, without the client noticing.
 * Resolves with the exit code when the client closes its end.
 */
export async function runShim(options: ShimOptions): Promise<number> {
  const shim = new Shim(options);
  return shim.run();
}

class Shim {
  readonly #options: ShimOptions;
  readonly #pending = new PendingRequests();
  /** Lines that came while there was no daemon. */
  #waiting: string[] = [];
  #daemon: Duplex | undefined;
  #adoptedAt = 0;
  #connecting = false;
  #handshakes = 0;
  readonly #failed = Promise.withResolvers<number>();

  constructor(options: ShimOptions) {
    this.#options = options;
  }

  async run(): Promise<number> {
    const { input } = this.#options;
    input.setEncoding("utf8");
    this.#connect();
    const looking = setInterval(() => void this.#joinRestarted(), LOOK_FOR_DAEMON_MS);
    const code = await Promise.race([this.#passInput(input).then(() => this.#finish()), this.#failed.promise]);
    clearInterval(looking);
    this.#daemon?.destroy();
    return code;
  }

  async #passInput(input: Readable): Promise<void> {
    for await (const line of splitLines(input)) {
      if (line.trim() === "") continue;
      if (this.#daemon === undefined) {
        this.#waiting.push(line);
        this.#connect();
      } else await this.#pass(line, this.#daemon);
    }
  }

  /** A client that writes its requests and closes at once still gets its answers; a dead one needs none. */
  async #finish(): Promise<number> {
    const parent = process.ppid;
    const closed = Date.now();
    const hasUnanswered = (): boolean => this.#waiting.length > 0 || this.#pending.open.some(isAnswered);
    const deadline = (): number =>
      this.#daemon === undefined ? closed + LAST_START_MS : Math.max(closed, this.#adoptedAt) + LAST_ANSWERS_MS;
    while (hasUnanswered() && process.ppid === parent && Date.now() < deadline()) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return EXIT.ok;
  }

  async #pass(line: string, daemon: Duplex): Promise<void> {
    this.#pending.noteRequest(line);
    if (!writeTogether(daemon, `${line}\n`)) await drained(daemon);
  }

  #connect(): void {
    if (this.#connecting) return;
    this.#connecting = true;
    void this.#findAndAdopt()
      .catch((error: unknown) => this.#giveUp(error))
      .finally(() => (this.#connecting = false));
  }

  /** A daemon may die between being found and being adopted: then it is looked for again. */
  async #findAndAdopt(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const address = await ensureDaemon(this.#options);
      try {
        await this.#adopt(await openStdio(address));
        return;
      } catch (error) {
        if (attempt === ADOPTION_ATTEMPTS) throw error;
      }
    }
  }

  async #joinRestarted(): Promise<void> {
    if (this.#daemon === undefined && readDaemonAddress(this.#options.home) !== undefined) this.#connect();
  }

  async #adopt(daemon: Duplex): Promise<void> {
    const lines = splitLines(daemon.setEncoding("utf8"));
    const sentBefore = this.#pending.open;
    await this.#repeatHandshake(daemon, lines);
    for (const request of sentBefore) {
      if (isRepeatable(request)) daemon.write(`${request.line}\n`);
      else this.#fail(request);
    }
    void this.#passOutput(daemon, lines);
    for (let line = this.#waiting.shift(); line !== undefined; line = this.#waiting.shift()) {
      await this.#pass(line, daemon);
    }
    if (daemon.destroyed) throw new Error("the daemon ended while it was adopted");
    this.#daemon = daemon;
    this.#adoptedAt = Date.now();
  }

  /** The new daemon must know what the client agreed on with the old one; the client must not see it twice. */
  async #repeatHandshake(daemon: Duplex, lines: AsyncGenerator<string>): Promise<void> {
    const { handshake } = this.#pending;
    if (handshake === undefined) return;
    this.#handshakes += 1;
    const id = `pml-handover-${this.#handshakes}`;
    const { line } = handshake.initialize;
    daemon.write(`${JSON.stringify({ ...(JSON.parse(line) as object), id })}\n`);
    for (;;) {
      const next = await lines.next();
      if (next.done === true) throw new Error("the daemon ended during the handshake");
      if (next.value.includes(id)) break;
    }
    if (handshake.initialized !== undefined) daemon.write(`${handshake.initialized}\n`);
  }

  #fail(request: Parameters<typeof failureLine>[0]): void {
    this.#pending.drop(request);
    const text = `The PML daemon ended during this call. Whether ${request.method} took effect is not known; PML is running again.`;
    this.#options.output.write(`${failureLine(request, text)}\n`);
  }

  async #passOutput(daemon: Duplex, lines: AsyncGenerator<string>): Promise<void> {
    const { output } = this.#options;
    let goodbye = false;
    try {
      for await (const line of lines) {
        if (line === GOODBYE) {
          goodbye = true;
          continue;
        }
        this.#pending.noteAnswer(line);
        if (!writeTogether(output, `${line}\n`)) await drained(output);
      }
    } catch {
      // a reset connection ends the daemon's output as much as a closed one does
    }
    daemon.destroy();
    if (this.#daemon !== daemon) return; // it was not adopted yet, and whoever is at it will notice
    this.#daemon = undefined;
    if (!goodbye || this.#pending.open.length > 0) this.#connect();
  }

  #giveUp(error: unknown): void {
    const { message, hint, id } = toErrorReport(error);
    const text = `${message}${hint === undefined ? "" : `. ${hint}`} (${id})`;
    for (const line of this.#waiting.splice(0)) this.#pending.noteRequest(line);
    for (const request of this.#pending.open) this.#options.output.write(`${failureLine(request, text)}\n`);
    this.#options.errors.write(`pml mcp: ${text}\n`);
    this.#failed.resolve(EXIT.unreachable);
  }
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("close", done);
  });
}
