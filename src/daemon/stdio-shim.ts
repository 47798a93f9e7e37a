import type { Duplex, Readable, Writable } from "node:stream";
import { EXIT, toErrorReport } from "../base/errors.ts";
import { readLines, WholeLines } from "../base/lines.ts";
import { GOODBYE } from "../mcp/transport/stdio-bridge.ts";
import { openStdio } from "./daemon-client.ts";
import { readDaemonAddress } from "./daemon-file.ts";
import { failureLine, isAnswered, isRepeatable, PendingRequests } from "./pending-requests.ts";
import { ensureDaemon } from "./start-daemon.ts";

export interface ShimOptions {
  readonly home: string;
  readonly serveArguments: readonly string[];
  readonly input: Readable;
  readonly output: Writable;
  readonly errors: Writable;
}

/** Poll interval of a shim whose daemon was ended on purpose. */
const DAEMON_POLL_MS = 2_000;
const ADOPTION_ATTEMPTS = 10;
/** Time limits for answers after the client has closed its end, from a running and from a starting daemon. */
const LAST_ANSWERS_MS = 2_500;
const LAST_START_MS = 15_000;

/**
 * Runs as an MCP client's stdio server: passes lines between the client and the daemon of the PML_HOME, starts a daemon
 * if none runs, and moves to the next one when it dies, without the client noticing. Resolves with the exit code when
 * the client closes its end.
 */
export async function runShim(options: ShimOptions): Promise<number> {
  const shim = new Shim(options);
  return shim.run();
}

class Shim {
  readonly #options: ShimOptions;
  readonly #pending = new PendingRequests();
  /** Lines received while there was no daemon. */
  #waiting: Buffer[] = [];
  #daemon: Duplex | undefined;
  #adoptedAt = 0;
  #connecting = false;
  #handshakes = 0;
  readonly #failed = Promise.withResolvers<number>();

  constructor(options: ShimOptions) {
    this.#options = options;
  }

  async run(): Promise<number> {
    this.#connect();
    const looking = setInterval(() => void this.#joinRestarted(), DAEMON_POLL_MS);
    const code = await Promise.race([this.#passInput().then(() => this.#finish()), this.#failed.promise]);
    clearInterval(looking);
    this.#daemon?.destroy();
    return code;
  }

  #passInput(): Promise<void> {
    const { input } = this.#options;
    const lines = new WholeLines();
    input.on("data", (chunk: Buffer) => {
      const whole = lines.push(chunk);
      if (whole !== undefined) this.#passWhole(whole);
    });
    return new Promise((resolve) => {
      const end = (): void => {
        const whole = lines.push(LINE_FEED);
        if (whole !== undefined && whole.length > LINE_FEED.length) this.#passWhole(whole);
        resolve();
      };
      input.once("end", end).once("error", end);
    });
  }

  #passWhole(whole: Buffer): void {
    if (this.#daemon === undefined) {
      this.#waiting.push(whole);
      this.#connect();
    } else this.#pass(whole, this.#daemon);
  }

  /** Answers the requests of a client that writes and closes at once; a dead client needs none. */
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

  /** Sends before recording: no answer can arrive within this turn of the event loop. */
  #pass(whole: Buffer, daemon: Duplex): void {
    const { input } = this.#options;
    if (!daemon.write(whole)) pauseUntilDrained(input, daemon);
    for (const line of readLines(whole)) this.#pending.noteRequest(line);
  }

  #connect(): void {
    if (this.#connecting) return;
    this.#connecting = true;
    void this.#findAndAdopt()
      .catch((error: unknown) => this.#giveUp(error))
      .finally(() => (this.#connecting = false));
  }

  /** Retries, because a daemon may die between being found and being adopted. */
  async #findAndAdopt(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const address = await ensureDaemon(this.#options);
      try {
        await this.#adopt(await openStdio(address, address.shimSecret));
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
    const sentBefore = this.#pending.open;
    await this.#repeatHandshake(daemon);
    for (const request of sentBefore) {
      if (isRepeatable(request)) daemon.write(`${request.line}\n`);
      else this.#fail(request);
    }
    this.#passOutput(daemon);
    for (const whole of this.#waiting.splice(0)) this.#pass(whole, daemon);
    if (daemon.destroyed) throw new Error("the daemon ended while it was adopted");
    this.#daemon = daemon;
    this.#adoptedAt = Date.now();
  }

  /** Repeats the client's handshake to a new daemon and hides its answer from the client. */
  async #repeatHandshake(daemon: Duplex): Promise<void> {
    const { handshake } = this.#pending;
    if (handshake === undefined) return;
    this.#handshakes += 1;
    const id = `pml-handover-${this.#handshakes}`;
    const { line } = handshake.initialize;
    daemon.write(`${JSON.stringify({ ...(JSON.parse(line) as object), id })}\n`);
    await skipAnswer(daemon, id);
    if (handshake.initialized !== undefined) daemon.write(`${handshake.initialized}\n`);
  }

  #fail(request: Parameters<typeof failureLine>[0]): void {
    this.#pending.drop(request);
    const text = `The PML daemon ended during this call. Whether ${request.method} took effect is not known; PML is running again.`;
    this.#options.output.write(`${failureLine(request, text)}\n`);
  }

  #passOutput(daemon: Duplex): void {
    const { output } = this.#options;
    const lines = new WholeLines();
    let goodbye = false;
    daemon.on("data", (chunk: Buffer) => {
      const whole = lines.push(chunk);
      if (whole === undefined) return;
      goodbye ||= whole.includes(GOODBYE_LINE);
      const passed = goodbye ? withoutGoodbye(whole) : whole;
      if (!output.write(passed)) pauseUntilDrained(daemon, output);
      for (const line of readLines(passed)) this.#pending.noteAnswer(line);
    });
    const end = (): void => {
      daemon.destroy();
      if (this.#daemon !== daemon) return; // it was not adopted yet; the adoption notices
      this.#daemon = undefined;
      if (!goodbye || this.#pending.open.length > 0) this.#connect();
    };
    // A reset connection ends the daemon's output as a closed one does.
    daemon.once("end", end).on("error", end).once("close", end).resume();
  }

  #giveUp(error: unknown): void {
    const { message, hint, id } = toErrorReport(error);
    const text = `${message}${hint === undefined ? "" : `. ${hint}`} (${id})`;
    for (const line of this.#waiting.splice(0).flatMap((whole) => [...readLines(whole)]))
      this.#pending.noteRequest(line);
    for (const request of this.#pending.open) this.#options.output.write(`${failureLine(request, text)}\n`);
    this.#options.errors.write(`pml mcp: ${text}\n`);
    this.#failed.resolve(EXIT.unreachable);
  }
}

const LINE_FEED = Buffer.from("\n");
const GOODBYE_LINE = Buffer.from(`${GOODBYE}\n`);

function withoutGoodbye(whole: Buffer): Buffer {
  const start = whole.indexOf(GOODBYE_LINE);
  if (start === -1) return whole;
  return Buffer.concat([whole.subarray(0, start), whole.subarray(start + GOODBYE_LINE.length)]);
}

/** Reads up to the answer to a request of the shim itself; leaves the rest unread. */
function skipAnswer(daemon: Duplex, id: string): Promise<void> {
  let received = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new Error("the daemon ended during the handshake"));
    const read = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const found = received.indexOf(id);
      const end = found === -1 ? -1 : received.indexOf(LINE_FEED, found);
      if (end === -1) return;
      daemon.off("data", read).off("close", gone).off("error", gone).pause();
      if (end + 1 < received.length) daemon.unshift(received.subarray(end + 1));
      resolve();
    };
    daemon.on("data", read).once("close", gone).once("error", gone);
  });
}

/** Pauses the source until the target has drained. */
function pauseUntilDrained(source: Readable, target: Writable): void {
  source.pause();
  const resume = (): void => {
    target.off("drain", resume).off("close", resume);
    source.resume();
  };
  target.on("drain", resume).on("close", resume);
}
