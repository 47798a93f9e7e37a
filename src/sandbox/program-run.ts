import type { CallSite, RunHost, RunLimits, RunOutcome, SandboxProgram } from "../execution/worker-bridge.ts";
import type { JsonValue } from "../base/json.ts";
import { CallTable } from "./call-table.ts";
import type { Frame } from "./frames.ts";
import { FROM_CHILD, TO_CHILD } from "./guest/frame-types.mjs";
import type { EngineStats, GoMessage } from "./guest/protocol.ts";
import { type GuestEvent, isTooDeep, parseGuestMessage } from "./guest-messages.ts";
import { describeLimit, type LimitName } from "./limit-errors.ts";
import { readThrown } from "./thrown.ts";

/** The child that executes a run. */
export interface ChildLink {
  /** True if the gateway measures the child's CPU time; the engine's own, coarser limit then comes second. */
  readonly isMeasured: boolean;
  send(type: string, text: string): void;
}

type WithoutStats<T> = T extends RunOutcome ? Omit<T, "stats" | "warnings"> : never;
type RunEnd = WithoutStats<RunOutcome>;

/** Limits that a guest or child may report; the gateway enforces the others. */
const REPORTED: ReadonlySet<unknown> = new Set<LimitName>([
  "cpuMs",
  "memoryMb",
  "maxCalls",
  "maxDecisions",
  "maxResultBytes",
]);
const MAX_WARNINGS = 20;
/** Room for a message besides its arguments. */
const MESSAGE_BYTES = 64 * 1024;

/** One run of a program, from its submission to its outcome. All frames of the child pass through here. */
export class ProgramRun {
  readonly limits: RunLimits;
  readonly depth: number;
  readonly outcome: Promise<RunOutcome>;
  readonly calls: CallTable;
  /** CPU time of the process at the first measurement of this run. */
  firstCpuMs: number | undefined;
  /** CPU time since then. */
  cpuMs = 0;
  attempts = 0;
  readonly #program: SandboxProgram;
  readonly #host: RunHost;
  readonly #signal: AbortSignal;
  readonly #settle: PromiseWithResolvers<RunOutcome>;
  readonly #warnings: string[] = [];
  #link: ChildLink | undefined;
  #onEnd: (isClean: boolean) => void = () => undefined;
  #hasBegun = false;
  #hasEnded = false;
  #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #stats: EngineStats | undefined;
  #decisions = 0;
  #logLines = 0;
  #logBytes = 0;
  readonly #abort = (): void => this.end({ kind: "aborted", reason: this.#signal.reason as unknown });

  constructor(program: SandboxProgram, host: RunHost, signal: AbortSignal) {
    this.#settle = Promise.withResolvers();
    this.outcome = this.#settle.promise;
    this.#program = program;
    this.limits = program.limits;
    this.depth = program.depth;
    this.#host = host;
    this.#signal = signal;
    this.calls = new CallTable({
      host,
      limits: program.limits,
      startedAt: program.startedAt,
      send: (answer) => this.#link?.send(TO_CHILD.answer, answer),
      fail: (error) => this.fail(error),
    });
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#abort, { once: true });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Notified once when the run ends, with whether the child is as good as new. */
  set onEnd(listener: (isClean: boolean) => void) {
    this.#onEnd = listener;
  }

  /** Sends the program to a child. The time limit starts here: time in the queue does not count. */
  start(link: ChildLink): void {
    this.#link = link;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.exceed("wallMs"), this.limits.wallMs);
    const { code, fileName, args, seed, startedAt, limits } = this.#program;
    // The engine counts wall time, not CPU time: on a busy machine it would be too strict.
    const cpuMs = link.isMeasured ? 2 * limits.cpuMs + 250 : limits.cpuMs;
    const setup = { seed, startedAt, limits: { ...limits, cpuMs } };
    link.send(TO_CHILD.go, JSON.stringify({ code, fileName, args: JSON.stringify(args), setup } satisfies GoMessage));
  }

  /** Detaches the run from a child that exited before it began. */
  detachRun(): void {
    clearTimeout(this.#timer);
    this.#link = undefined;
    this.attempts += 1;
  }

  /** Handles a frame of the child; a malformed one ends the run. */
  receive(frame: Frame): void {
    if (this.#hasEnded) return;
    try {
      this.#read(frame);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.end({ kind: "crashed", message: `The process that ran the program broke the protocol: ${reason}` });
    }
  }

  exceed(limit: LimitName, found?: number): void {
    this.end({ kind: "limit", limit, message: describeLimit(limit, this.limits, found) });
  }

  end(ending: RunEnd): void {
    const stats = {
      wallMs: performance.now() - this.#startedAt,
      cpuMs: this.#stats?.cpuMs ?? this.cpuMs,
      heapBytes: this.#stats?.heapBytes ?? 0,
      calls: this.calls.made,
    };
    const isClean = ending.kind === "returned" || ending.kind === "threw";
    if (this.#close(isClean)) this.#settle.resolve({ ...ending, stats, warnings: this.#warnings });
  }

  /** Rejects the run with an error of the sandbox or its host, which is no outcome of the program. */
  fail(error: unknown): void {
    if (this.#close(false)) this.#settle.reject(error);
  }

  #close(isClean: boolean): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#abort);
    this.calls.close();
    this.#onEnd(isClean);
    return true;
  }

  #read({ type, text }: Frame): void {
    if (type === FROM_CHILD.messages) this.#receiveMessages(text);
    else if (type === FROM_CHILD.begun) this.#hasBegun = true;
    else if (type === FROM_CHILD.warning) this.#warn(text);
    else if (type === FROM_CHILD.stats) this.#stats = readStats(JSON.parse(text));
    else if (type === FROM_CHILD.returned) this.#return(text);
    else if (type === FROM_CHILD.threw) this.#throw(text);
    else if (type === FROM_CHILD.limit) this.#reportLimit(JSON.parse(text));
    else throw new Error(`an unknown frame type ${JSON.stringify(type)}`);
  }

  #receiveMessages(text: string): void {
    const most = this.limits.maxArgumentBytes + MESSAGE_BYTES;
    for (const line of text.split("\n")) {
      if (line === "" || this.#hasEnded) continue;
      if (line.length * 3 > most && Buffer.byteLength(line) > most) this.exceed("maxArgumentBytes");
      else this.#take(parseGuestMessage(line), line);
    }
  }

  #take(event: GuestEvent, line: string): void {
    if (event.kind === "logged") this.#log(event.level, event.text);
    else if (event.kind === "decided") this.#decide(event.site, event.outcome);
    else if (this.calls.made >= this.limits.maxCalls) this.exceed("maxCalls");
    else this.calls.take(event.call, line);
  }

  #decide(site: CallSite, outcome: string): void {
    this.#decisions += 1;
    if (this.#decisions > this.limits.maxDecisions) this.exceed("maxDecisions");
    else this.#tellHost(() => this.#host.decided(site, outcome));
  }

  #log(level: string, text: string): void {
    const { maxLogLines, maxLogBytes } = this.limits;
    this.#logLines += 1;
    this.#logBytes += Buffer.byteLength(text);
    const limit =
      this.#logLines > maxLogLines ? "maxLogLines" : this.#logBytes > maxLogBytes ? "maxLogBytes" : undefined;
    if (limit === undefined) this.#tellHost(() => this.#host.logged(level, text));
    else this.#warn(describeLimit(limit, this.limits));
    // A guest stops after the first line above the limit.
    if (this.#logLines > 2 * maxLogLines + 1) throw new Error("more log lines than a guest sends");
  }

  #tellHost(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.fail(error);
    }
  }

  #warn(text: string): void {
    if (this.#warnings.length < MAX_WARNINGS && !this.#warnings.includes(text)) this.#warnings.push(text);
  }

  #return(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.limits.maxResultBytes) {
      this.exceed("maxResultBytes", bytes);
      return;
    }
    const value = JSON.parse(text) as JsonValue;
    const tooDeep = { name: "RangeError", message: "The return value of the program is nested too deep" };
    if (isTooDeep(text, value)) this.end({ kind: "threw", error: tooDeep });
    else this.end({ kind: "returned", value });
  }

  #throw(text: string): void {
    const thrown = readThrown(JSON.parse(text), this.#program.fileName);
    if (thrown === undefined) throw new Error("a malformed error");
    this.end({ kind: "threw", ...thrown });
  }

  #reportLimit(message: unknown): void {
    const [limit, found] = Array.isArray(message) ? (message as unknown[]) : [];
    if (!REPORTED.has(limit)) throw new Error("a limit that a child may not report");
    this.exceed(limit as LimitName, typeof found === "number" ? found : undefined);
  }
}

function readStats(value: unknown): EngineStats {
  const { cpuMs, heapBytes } = (value ?? {}) as Record<string, unknown>;
  if (typeof cpuMs !== "number" || typeof heapBytes !== "number") throw new Error("malformed stats");
  return { cpuMs, heapBytes };
}
