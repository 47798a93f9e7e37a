import type { CallSite, RunHost, RunLimits, RunOutcome, SandboxProgram } from "../execution/worker-bridge.ts";
import type { JsonValue } from "../base/json.ts";
import { CallTable } from "./call-table.ts";
import type { Frame } from "./frames.ts";
import { FROM_CHILD, TO_CHILD } from "./guest/frame-types.mjs";
import type { EngineStats, GoMessage } from "./guest/protocol.ts";
import { type GuestEvent, isTooDeep, parseGuestMessage } from "./guest-messages.ts";
import { describeLimit, type LimitName } from "./limit-errors.ts";
import { readThrown } from "./thrown.ts";

/** The child a run was handed to. */
export interface ChildLink {
  /** Whether the gateway measures what the child computes; then the engine's own, coarser limit comes second. */
  readonly isMeasured: boolean;
  send(type: string, text: string): void;
}

type WithoutFigures<T> = T extends RunOutcome ? Omit<T, "stats" | "warnings"> : never;
type Ending = WithoutFigures<RunOutcome>;

/** Limits that a guest or child may report; the others are the gateway's own. */
const REPORTED: ReadonlySet<unknown> = new Set<LimitName>([
  "cpuMs",
  "memoryMb",
  "maxCalls",
  "maxDecisions",
  "maxResultBytes",
]);
const MOST_WARNINGS = 20;
/** What a message may have beside the arguments in it. */
const MESSAGE_BYTES = 64 * 1024;

/** One program's run, from being asked for until its outcome. Everything a child says goes through here. */
export class ProgramRun {
  readonly limits: RunLimits;
  readonly depth: number;
  readonly outcome: Promise<RunOutcome>;
  readonly calls: CallTable;
  /** What the process had computed when it was first looked at in this run. */
  cpuAtFirstLook: number | undefined;
  /** What it has computed since. */
  cpuMs = 0;
  timesTakenBack = 0;
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

  /** Hears once that the run has ended, and whether what it ran on is as good as new. */
  set onEnd(listener: (isClean: boolean) => void) {
    this.#onEnd = listener;
  }

  /** Hands the program to a child. The run's time starts here: waiting for a child is not the program's fault. */
  start(link: ChildLink): void {
    this.#link = link;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.exceed("wallMs"), this.limits.wallMs);
    const { code, fileName, args, seed, startedAt, limits } = this.#program;
    // The engine counts time, not computing: on a busy machine it would be too strict.
    const cpuMs = link.isMeasured ? 2 * limits.cpuMs + 250 : limits.cpuMs;
    const setup = { seed, startedAt, limits: { ...limits, cpuMs } };
    link.send(TO_CHILD.go, JSON.stringify({ code, fileName, args: JSON.stringify(args), setup } satisfies GoMessage));
  }

  /** Takes the program back from a child that ended before it began. */
  takeBack(): void {
    clearTimeout(this.#timer);
    this.#link = undefined;
    this.timesTakenBack += 1;
  }

  /** A frame of the child; one that makes no sense ends the run. */
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

  end(ending: Ending): void {
    const stats = {
      wallMs: performance.now() - this.#startedAt,
      cpuMs: this.#stats?.cpuMs ?? this.cpuMs,
      heapBytes: this.#stats?.heapBytes ?? 0,
      calls: this.calls.made,
    };
    const isClean = ending.kind === "returned" || ending.kind === "threw";
    if (this.#close(isClean)) this.#settle.resolve({ ...ending, stats, warnings: this.#warnings });
  }

  /** For what is nobody's outcome: the sandbox or its host does not work. */
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
    else throw new Error(`a frame of type ${JSON.stringify(type)}`);
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
    // A guest stops after the first line that is too much.
    if (this.#logLines > 2 * maxLogLines + 1) throw new Error("more lines than a guest writes");
  }

  #tellHost(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.fail(error);
    }
  }

  #warn(text: string): void {
    if (this.#warnings.length < MOST_WARNINGS && !this.#warnings.includes(text)) this.#warnings.push(text);
  }

  #return(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.limits.maxResultBytes) {
      this.exceed("maxResultBytes", bytes);
      return;
    }
    const value = JSON.parse(text) as JsonValue;
    const tooDeep = { name: "RangeError", message: "What the program returned is nested too deep" };
    if (isTooDeep(text, value)) this.end({ kind: "threw", error: tooDeep });
    else this.end({ kind: "returned", value });
  }

  #throw(text: string): void {
    const thrown = readThrown(JSON.parse(text), this.#program.fileName);
    if (thrown === undefined) throw new Error("an error that is none");
    this.end({ kind: "threw", ...thrown });
  }

  #reportLimit(message: unknown): void {
    const [limit, found] = Array.isArray(message) ? (message as unknown[]) : [];
    if (!REPORTED.has(limit)) throw new Error("a limit that is none");
    this.exceed(limit as LimitName, typeof found === "number" ? found : undefined);
  }
}

function readStats(value: unknown): EngineStats {
  const { cpuMs, heapBytes } = (value ?? {}) as Record<string, unknown>;
  if (typeof cpuMs !== "number" || typeof heapBytes !== "number") throw new Error("figures that are none");
  return { cpuMs, heapBytes };
}
