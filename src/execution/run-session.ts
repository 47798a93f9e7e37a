import { parseToolId } from "../catalogue/tool-id.ts";
import type { InstrumentedProgram } from "../analysis/structure.ts";
import type { CapabilitySource } from "../registry/capability.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { DagFailure, executeDag } from "./dag-executor.ts";
import { Journal, type JournalEntry } from "./journal.ts";
import type { Runnable } from "./programs.ts";
import { Replay } from "./replay-journal.ts";
import { type ParkReason, RunCalls, type RunCallsOptions } from "./run-calls.ts";
import type { LogLine, Run, RunError } from "./run-store.ts";
import type { GuestError, RunHost, RunLimits, RunOutcome, Sandbox } from "./worker-bridge.ts";

/** One for all runs: each has two signals, and the stack of a new one would cost more than all else in ending a run. */
const OVER = new DOMException("The run is over", "AbortError");

/** How a run ended, or why it stopped. */
export type Ended =
  | { readonly kind: "returned"; readonly value: JsonValue }
  | { readonly kind: "failed"; readonly error: RunError }
  | { readonly kind: "cancelled" }
  | { readonly kind: "parked"; readonly reason: ParkReason };

export interface SessionOptions {
  readonly run: Run;
  readonly runnable: Runnable;
  readonly recorded: readonly JournalEntry[];
  readonly write: (entries: readonly JournalEntry[]) => Promise<void>;
  readonly sandbox: Sandbox;
  readonly limits: RunLimits;
  readonly depth: number;
  readonly signal: AbortSignal;
  readonly calls: Omit<RunCallsOptions, "run" | "journal" | "replay" | "signal" | "park" | "fail">;
}

export interface SessionResult {
  readonly ended: Ended;
  readonly logs: readonly LogLine[];
  readonly warnings: readonly string[];
}

/** One run from its beginning, or from where its journal left it, to an end or a stop. */
export class RunSession {
  readonly journal: Journal;
  readonly run: Run;
  readonly #options: SessionOptions;
  readonly #stop = new AbortController();
  readonly #over = new AbortController();
  readonly #nested = new Set<RunSession>();
  readonly #nestedWork = new Set<Promise<unknown>>();
  #stopped: Ended | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.run = options.run;
    this.journal = new Journal(options.write, options.recorded);
  }

  /** Whether it goes on with what an earlier session began. */
  get wasResumed(): boolean {
    return this.#options.recorded.length > 0;
  }

  /** Aborted when it has ended: nothing it called may go on without it. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Stops it, and what it called, until something is decided. */
  park(reason: ParkReason): void {
    this.#end({ kind: "parked", reason });
    for (const each of this.#nested) each.park(reason);
  }

  /** A run that this one called: they stop together. */
  adopt(nested: RunSession): void {
    this.#nested.add(nested);
    if (this.#stopped?.kind === "parked") nested.park(this.#stopped.reason);
  }

  /** It has ended: a loop may call many. */
  release(nested: RunSession): void {
    this.#nested.delete(nested);
  }

  /** Work on a run that this one called; it is over before this one is, or both would go on at once after a stop. */
  supervise<T>(work: Promise<T>): Promise<T> {
    this.#nestedWork.add(work);
    const forget = (): void => void this.#nestedWork.delete(work);
    work.then(forget, forget);
    return work;
  }

  async execute(): Promise<SessionResult> {
    const { signal, run, calls: ports } = this.#options;
    const cancel = (): void => this.#end({ kind: "cancelled" });
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    const calls = new RunCalls({
      ...ports,
      run,
      journal: this.journal,
      replay: new Replay(this.#options.recorded),
      signal: this.#stop.signal,
      park: (reason) => this.park(reason),
      fail: (error) => this.#end({ kind: "failed", error: toRunError(error) }),
    });
    try {
      const { ended, warnings } = await runBody(this.#options, calls, this.#stop.signal);
      return { ended: this.#stopped ?? ended, logs: calls.logs, warnings };
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#stop.abort(OVER); // calls that the program did not wait for
      if (this.#stopped?.kind !== "parked") this.#over.abort(OVER);
      await Promise.allSettled(this.#nestedWork);
    }
  }

  #end(ended: Ended): void {
    this.#stopped ??= ended;
    this.#stop.abort();
  }
}

export interface BodyOptions {
  readonly run: Pick<Run, "args" | "seed" | "startedMs" | "options">;
  readonly runnable: Pick<Runnable, "body">;
  readonly sandbox: Sandbox;
  readonly limits: RunLimits;
  readonly depth: number;
}

interface BodyResult {
  readonly ended: Exclude<Ended, { kind: "parked" }>;
  readonly warnings: readonly string[];
}

/** The program itself, whatever kind it is, against whatever answers its calls. */
export async function runBody(options: BodyOptions, host: RunHost, signal: AbortSignal): Promise<BodyResult> {
  const { run, runnable } = options;
  const { body } = runnable;
  if (body.kind === "code") return runCode(options, { program: body.program.instrumented, host, signal });
  const work = body.kind === "dag" ? executeDag(body.dag, run.args, host) : delegate(body.source, run.args, host);
  const stopped = new Promise<BodyResult["ended"]>((resolve) => {
    signal.addEventListener("abort", () => resolve({ kind: "cancelled" }), { once: true });
  });
  const done = work.then(
    (value): BodyResult["ended"] => ({ kind: "returned", value }),
    (error: unknown): BodyResult["ended"] => ({ kind: "failed", error: describeFailure(error) }),
  );
  return { ended: await Promise.race([done, stopped]), warnings: [] };
}

async function runCode(
  { run, sandbox, limits, depth }: BodyOptions,
  { program, host, signal }: { program: InstrumentedProgram; host: RunHost; signal: AbortSignal },
): Promise<BodyResult> {
  const { args, seed, startedMs, options } = run;
  const outcome = await sandbox.run(
    {
      code: program.code,
      fileName: PROGRAM_FILE,
      args,
      seed,
      startedAt: startedMs,
      depth,
      limits: options.timeoutMs === undefined ? limits : { ...limits, wallMs: options.timeoutMs },
    },
    host,
    signal,
  );
  return { ended: toEnded(outcome, program), warnings: outcome.warnings };
}

async function delegate(
  { toolId, defaultArgs = {} }: Extract<CapabilitySource, { type: "tool" }>,
  args: JsonObject,
  host: RunHost,
): Promise<JsonValue> {
  const { server, tool } = parseToolId(toolId);
  const call = { kind: "tool", id: 1, node: "n1", loop: "", server, tool } as const;
  const answer = await host.call({ ...call, args: { ...defaultArgs, ...args } });
  if (!answer.ok) throw new DagFailure("n1", { code: "tool_error", ...answer.error });
  return answer.value;
}

/** What programs are called in error messages. */
const PROGRAM_FILE = "program.ts";

function toEnded(outcome: RunOutcome, program: InstrumentedProgram): BodyResult["ended"] {
  switch (outcome.kind) {
    case "returned":
      return { kind: "returned", value: outcome.value };
    case "threw": {
      const at = outcome.at === undefined ? {} : program.originalPosition(outcome.at.line, outcome.at.column);
      return { kind: "failed", error: { ...toRunError(outcome.error), ...at } };
    }
    case "limit":
      return {
        kind: "failed",
        error: { code: "limit_exceeded", message: outcome.message, hint: `The limit is sandbox.${outcome.limit}.` },
      };
    case "aborted":
      return { kind: "cancelled" };
    case "crashed":
    default:
      return { kind: "failed", error: { code: "sandbox_crashed", message: outcome.message } };
  }
}

function toRunError({ name, message, code }: GuestError): RunError {
  return {
    code: code ?? "program_error",
    message: code === undefined && name !== "Error" ? `${name}: ${message}` : message,
  };
}

function describeFailure(error: unknown): RunError {
  if (error instanceof DagFailure) return { code: error.code, message: `Task ${error.task}: ${error.message}` };
  return { code: "program_error", message: error instanceof Error ? error.message : String(error) };
}
