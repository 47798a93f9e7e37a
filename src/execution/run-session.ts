import { withoutDatabaseText } from "../base/errors.ts";
import { parseToolId } from "../catalogue/tool-id.ts";
import type { InstrumentedProgram } from "../analysis/structure.ts";
import type { CapabilitySource } from "../registry/capability.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { DagFailure, executeDag, TooManyTasks } from "./dag-executor.ts";
import { Journal, type JournalEntry } from "./journal.ts";
import type { RunBudget } from "./run-budget.ts";
import type { Runnable } from "./programs.ts";
import { Replay } from "./replay-journal.ts";
import { type ParkReason, RunCalls, type RunCallsOptions } from "./run-calls.ts";
import type { RunError } from "../contract/execute.ts";
import type { LogLine, Run, RunOptions } from "./run-store.ts";
import type { GuestError, RunHost, RunLimits, RunOutcome, Sandbox } from "./worker-bridge.ts";

/** Shared by all runs: each aborts two signals, and capturing a new stack would dominate the cost of ending a run. */
const RUN_OVER = new DOMException("The run is over", "AbortError");

/** How a run ended, or why it parked. */
export type SessionEnd =
  | { readonly kind: "returned"; readonly value: JsonValue }
  | { readonly kind: "failed"; readonly error: RunError }
  | { readonly kind: "cancelled" }
  | { readonly kind: "parked"; readonly reason: ParkReason };

export interface RunSessionOptions {
  readonly run: Run;
  readonly runnable: Runnable;
  readonly recorded: readonly JournalEntry[];
  readonly write: (entries: readonly JournalEntry[]) => Promise<void>;
  readonly sandbox: Sandbox;
  readonly limits: RunLimits;
  readonly budget: RunBudget;
  readonly depth: number;
  readonly signal: AbortSignal;
  readonly calls: Omit<RunCallsOptions, "run" | "journal" | "replay" | "budget" | "signal" | "park" | "fail">;
}

export interface SessionResult {
  readonly ended: SessionEnd;
  readonly logs: readonly LogLine[];
  readonly warnings: readonly string[];
}

/** Executes one run, from its start or its journal, until it ends or parks. */
export class RunSession {
  readonly journal: Journal;
  readonly run: Run;
  readonly #options: RunSessionOptions;
  readonly #stop = new AbortController();
  readonly #over = new AbortController();
  readonly #nested = new Set<RunSession>();
  readonly #nestedWork = new Set<Promise<unknown>>();
  #stopped: SessionEnd | undefined;

  constructor(options: RunSessionOptions) {
    this.#options = options;
    this.run = options.run;
    options.budget.addStored(options.recorded);
    this.journal = new Journal(options.write, options.recorded, options.budget);
  }

  /** Shared with the run that this one is nested in. */
  get budget(): RunBudget {
    return this.#options.budget;
  }

  /** True if the run continues from a journal. */
  get wasResumed(): boolean {
    return this.#options.recorded.length > 0;
  }

  /** Aborts when the run has ended, so that nothing it called outlives it. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Parks the run and its nested runs until a decision. */
  park(reason: ParkReason): void {
    this.#end({ kind: "parked", reason });
    for (const each of this.#nested) each.park(reason);
  }

  /** Registers a nested run, which parks together with this one. */
  adopt(nested: RunSession): void {
    this.#nested.add(nested);
    if (this.#stopped?.kind === "parked") nested.park(this.#stopped.reason);
  }

  /** Removes a nested run that has ended; a loop may call many. */
  release(nested: RunSession): void {
    this.#nested.delete(nested);
  }

  /** Tracks work on a nested run, which must finish before this one does; otherwise both would resume after a stop. */
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
      budget: this.budget,
      signal: this.#stop.signal,
      park: (reason) => this.park(reason),
      fail: (error) => this.#end({ kind: "failed", error }),
    });
    try {
      const { ended, warnings } = await runBody(this.#options, calls, this.#stop.signal);
      return { ended: this.#stopped ?? ended, logs: calls.logs, warnings };
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#stop.abort(RUN_OVER); // cancels calls that the program did not await
      if (this.#stopped?.kind !== "parked") this.#over.abort(RUN_OVER);
      await Promise.allSettled(this.#nestedWork);
    }
  }

  #end(ended: SessionEnd): void {
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
  readonly ended: Exclude<SessionEnd, { kind: "parked" }>;
  readonly warnings: readonly string[];
}

/** Runs a program of any kind against a host that answers its calls. */
export async function runBody(options: BodyOptions, host: RunHost, signal: AbortSignal): Promise<BodyResult> {
  const { run, runnable } = options;
  const { body } = runnable;
  const { limits, warnings } = lowerWallTime(options.limits, run.options);
  if (body.kind === "code") {
    const result = await runCode({ ...options, limits }, { program: body.program.instrumented, host, signal });
    return { ...result, warnings: [...warnings, ...result.warnings] };
  }
  const work =
    body.kind === "dag"
      ? executeDag(body.dag, { args: run.args, host, maxCalls: limits.maxCalls })
      : delegate(body.source, run.args, host);
  return { ended: await endInTime(work, limits, signal), warnings };
}

/** A request may only lower the limit, which is a person's. */
function lowerWallTime(
  limits: RunLimits,
  { timeoutMs = limits.wallMs }: RunOptions,
): { readonly limits: RunLimits; readonly warnings: readonly string[] } {
  if (timeoutMs <= limits.wallMs) return { limits: { ...limits, wallMs: timeoutMs }, warnings: [] };
  const seconds = limits.wallMs / 1000;
  return { limits, warnings: [`options.timeout was lowered to ${seconds} seconds, the limit sandbox.wallMs`] };
}

/** Ends steps that no sandbox runs as it would: with the signal, or at the limit of time. */
async function endInTime(
  work: Promise<JsonValue>,
  { wallMs }: RunLimits,
  signal: AbortSignal,
): Promise<BodyResult["ended"]> {
  const first = Promise.withResolvers<BodyResult["ended"]>();
  const cancel = (): void => first.resolve({ kind: "cancelled" });
  const timer = setTimeout(() => first.resolve({ kind: "failed", error: tookTooLong(wallMs) }), wallMs);
  signal.addEventListener("abort", cancel, { once: true });
  work.then(
    (value) => first.resolve({ kind: "returned", value }),
    (error: unknown) => first.resolve({ kind: "failed", error: describeFailure(error) }),
  );
  try {
    return await first.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

async function runCode(
  { run, sandbox, limits, depth }: BodyOptions,
  { program, host, signal }: { program: InstrumentedProgram; host: RunHost; signal: AbortSignal },
): Promise<BodyResult> {
  const { args, seed, startedMs } = run;
  const outcome = await sandbox.run(
    { code: program.code, fileName: PROGRAM_FILE, args, seed, startedAt: startedMs, depth, limits },
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

/** File name of programs in error messages. */
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

function tookTooLong(wallMs: number): RunError {
  const message = `The run took longer than ${wallMs.toLocaleString("en-US")} ms`;
  return { code: "limit_exceeded", message, hint: "The limit is sandbox.wallMs." };
}

function describeFailure(thrown: unknown): RunError {
  const error = withoutDatabaseText(thrown);
  if (error instanceof TooManyTasks)
    return { code: "limit_exceeded", message: error.message, hint: "The limit is sandbox.maxCalls." };
  if (error instanceof DagFailure) return { code: error.code, message: `Task ${error.task}: ${error.message}` };
  return { code: "program_error", message: error instanceof Error ? error.message : String(error) };
}
