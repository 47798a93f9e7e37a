import type { Catalogue } from "../catalogue/catalogue.ts";
import { formatToolId } from "../catalogue/tool-id.ts";
import { setTimeout as pause } from "node:timers/promises";
import { PmlError, withoutDatabaseText } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Effect } from "../permissions/effect.ts";
import type { JudgedPlan } from "../permissions/plan.ts";
import type { RunError } from "../contract/execute.ts";
import type { CallEntry, CallTarget, Journal } from "./journal.ts";
import { CallRefused, type CallTool, type RunCaller } from "./ports.ts";
import type { Replay } from "./replay-journal.ts";
import type { RunBudget } from "./run-budget.ts";
import type { LogLine, Run } from "./run-store.ts";
import type { CallAnswer, CallOutcome, CallSite, GuestCall, RunHost } from "./worker-bridge.ts";

/** Why a run stops in the middle and waits. */
export type ParkReason =
  /** One call needs a person: it was not foreseen, or an interruption left its outcome unknown. */
  { readonly kind: "asked"; readonly asked: JudgedPlan } | { readonly kind: "layer" };

export type GuardVerdict =
  | { readonly kind: "allowed"; readonly effect: Effect }
  | { readonly kind: "denied"; readonly reason: string }
  | { readonly kind: "ask"; readonly asked: JudgedPlan };

export interface NestedCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly runId: string;
  /** The journal entry of the parent that this call answers. */
  readonly call: string;
}

export interface RunCallsOptions {
  readonly run: Run;
  readonly journal: Journal;
  readonly replay: Replay;
  readonly budget: RunBudget;
  readonly tools: Catalogue;
  readonly caller: RunCaller;
  readonly signal: AbortSignal;
  readonly callTool: CallTool;
  readonly callCapability: (call: NestedCall) => Promise<CallOutcome>;
  readonly newRunId: () => string;
  /** Decides before each call whether the run may make it, with these arguments. */
  readonly guard: (tool: string, args: JsonObject) => Promise<GuardVerdict>;
  /** Reads a person's decision about a call whose outcome is unknown. */
  readonly resolveAmbiguous: (call: CallEntry) => Promise<"repeat" | "give_up" | JudgedPlan>;
  /** Parks the run; calls under way stay unanswered. */
  readonly park: (reason: ParkReason) => void;
  readonly fail: (error: RunError) => void;
}

/** Answers the calls of a running program: from the journal, or by making and journalling them. */
export class RunCalls implements RunHost {
  readonly #options: RunCallsOptions;
  readonly logs: LogLine[] = [];
  #inFlight = 0;
  #finished = 0;
  #clock: number;
  /** An answer from outside the journal went back, so the next call begins a new layer. */
  #layerAnswered = false;
  #parkAfterLayer = false;

  constructor(options: RunCallsOptions) {
    this.#options = options;
    this.#clock = options.run.startedMs;
  }

  call(call: GuestCall): Promise<CallAnswer> {
    return this.#answer(call).catch((error: unknown) => {
      if (!(error instanceof Stopped)) this.#options.fail(asRunError(error));
      return NEVER;
    });
  }

  decided({ node, loop }: CallSite, outcome: string): void {
    const { journal, replay, fail } = this.#options;
    if (node === undefined || replay.hasDecision(node, loop)) return;
    try {
      journal.append({ kind: "decision", node, loop, outcome });
    } catch (error) {
      fail(asRunError(error));
    }
  }

  logged(level: string, text: string): void {
    this.logs.push({ level, text });
  }

  async #answer(call: GuestCall): Promise<CallAnswer> {
    const { replay, budget, run, tools, newRunId } = this.#options;
    budget.takeCall();
    const target = targetOf(call, tools, newRunId);
    const { node, loop, args } = call;
    const known = replay.find({ node, loop, target, args });
    if (known.kind === "answered") {
      await replay.turnOf(known.answer);
      this.#clock = known.answer.clock;
      return { ...known.answer.outcome, clock: known.answer.clock };
    }
    if (known.kind === "diverged") throw new Error(describeDivergence(known.recorded, target));
    if (known.kind === "new" && run.options.perLayerValidation === true) await this.#stopBetweenLayers();
    this.#inFlight++;
    try {
      const outcome =
        known.kind === "ambiguous"
          ? await this.#performAgain(known.call, call)
          : await this.#performFirst(call, target);
      return await this.#record(outcome);
    } finally {
      this.#inFlight--;
      this.#parkWhenLayerIsDone();
    }
  }

  async #performFirst(call: GuestCall, target: CallTarget): Promise<Performed> {
    if (target.kind !== "tool") {
      this.#refuseAfterStop();
      const seq = this.#note(call, target);
      return { seq, outcome: await this.#performInside(call, target, seq) };
    }
    let seq: number | undefined;
    let hasEffects = false;
    const outcome = await this.#callTool(target.tool, call, async () => {
      const verdict = await this.#check(target.tool, call);
      this.#refuseAfterStop();
      seq = this.#note(call, target);
      if (verdict.kind === "denied") throw denied(target.tool, verdict.reason);
      hasEffects = verdict.effect !== "read";
      // A call with effects is durable before it goes out; one that only reads can simply be made again.
      if (hasEffects) await this.#options.journal.flush();
      this.#refuseAfterStop();
    });
    return { seq: seq ?? this.#note(call, target), hasEffects, outcome };
  }

  async #performAgain(recorded: CallEntry, call: GuestCall): Promise<Performed> {
    const { target, seq } = recorded;
    if (target.kind !== "tool") {
      this.#refuseAfterStop();
      return { seq, outcome: await this.#performInside(call, target, seq) };
    }
    const outcome = await this.#callTool(target.tool, call, async () => {
      const verdict = await this.#options.guard(target.tool, argsOf(call));
      if (verdict.kind === "denied") throw denied(target.tool, verdict.reason);
      // The question about the unknown outcome is about this very call, so an unforeseen one needs no second question.
      const isRisky = verdict.kind === "ask" || verdict.effect === "write" || verdict.effect === "destructive";
      if (isRisky) await this.#settleAmbiguous(recorded);
      this.#refuseAfterStop();
    });
    return { seq, outcome };
  }

  /** The outcome of the recorded call is unknown: a person decides whether it is made again. */
  async #settleAmbiguous(recorded: CallEntry): Promise<void> {
    const said = await this.#options.resolveAmbiguous(recorded);
    if (typeof said === "object") this.#park({ kind: "asked", asked: said });
    if (said === "give_up") throw unknownOutcome(describeTarget(recorded.target));
  }

  #note({ node, loop, args }: GuestCall, target: CallTarget): number {
    return this.#options.journal.append({ kind: "call", node, loop, target, args, at: Date.now() });
  }

  /** The run may have stopped meanwhile; then the session that resumes it makes the call. */
  #refuseAfterStop(): void {
    if (this.#options.signal.aborted) throw new Stopped();
  }

  async #check(tool: string, call: GuestCall): Promise<Exclude<GuardVerdict, { kind: "ask" }>> {
    const verdict = await this.#options.guard(tool, argsOf(call));
    return verdict.kind === "ask" ? this.#park({ kind: "asked", asked: verdict.asked }) : verdict;
  }

  /** A call that reaches no server: a capability, or a pause. */
  #performInside(call: GuestCall, target: Exclude<CallTarget, { kind: "tool" }>, seq: number): Promise<CallOutcome> {
    if (target.kind === "sleep") return this.#sleep(call.kind === "sleep" ? call.ms : 0);
    return this.#options.callCapability({
      name: target.name,
      args: argsOf(call),
      runId: target.runId,
      call: String(seq),
    });
  }

  async #callTool(tool: string, call: GuestCall, permit: () => Promise<void>): Promise<CallOutcome> {
    const { callTool, run, caller, signal } = this.#options;
    // A journal that cannot be written fails the run; to the program it must not look like a tool that failed.
    let broken: { readonly error: unknown } | undefined;
    const permitOrBreak = (): Promise<void> =>
      permit().catch((error: unknown) => {
        if (!(error instanceof CallRefused)) broken = { error };
        throw error;
      });
    try {
      const outcome = await callTool({
        tool,
        args: argsOf(call),
        runId: run.id,
        caller,
        signal,
        permit: permitOrBreak,
      });
      if (broken !== undefined) throw broken.error;
      return outcome;
    } catch (error) {
      if (signal.aborted) throw new Stopped();
      throw error;
    }
  }

  async #sleep(ms: number): Promise<CallOutcome> {
    const { signal } = this.#options;
    await pause(ms, undefined, { signal }).catch(() => {
      throw new Stopped();
    });
    return { ok: true, value: null };
  }

  async #record({ seq, outcome, hasEffects = false }: Performed): Promise<CallAnswer> {
    const { journal, replay, caller } = this.#options;
    await replay.caughtUp;
    this.#refuseAfterStop();
    this.#clock = Math.max(this.#clock, Date.now());
    journal.append({ kind: "answer", call: seq, clock: this.#clock, outcome });
    // Not awaited; the sooner it is durable, the fewer outcomes a crash leaves unknown.
    if (hasEffects) void journal.flush().catch(() => undefined);
    this.#layerAnswered = true;
    caller.onProgress?.({ progress: ++this.#finished, message: describeProgress(journal.entries[seq]) });
    return { ...outcome, clock: this.#clock };
  }

  /** Calls made before any new answer went back are one layer; the first one after that waits for a person. */
  async #stopBetweenLayers(): Promise<void> {
    if (!this.#layerAnswered) return;
    this.#parkAfterLayer = true;
    this.#parkWhenLayerIsDone();
    await NEVER;
  }

  #parkWhenLayerIsDone(): void {
    if (this.#parkAfterLayer && this.#inFlight === 0 && !this.#options.signal.aborted)
      this.#options.park({ kind: "layer" });
  }

  #park(reason: ParkReason): never {
    this.#options.park(reason);
    throw new Stopped();
  }
}

function argsOf({ args }: GuestCall): JsonObject {
  return (args ?? {}) as JsonObject;
}

/** Finds the target of a program's call, in any spelling. */
export function targetOf(call: GuestCall, tools: Catalogue, newRunId: () => string): CallTarget {
  switch (call.kind) {
    case "tool":
      return { kind: "tool", tool: tools.findTool(call.server, call.tool)?.id ?? formatToolId(call.server, call.tool) };
    case "capability":
      return { kind: "capability", name: call.name, runId: newRunId() };
    case "sleep":
    default:
      return { kind: "sleep" };
  }
}

interface Performed {
  readonly seq: number;
  readonly hasEffects?: boolean;
  readonly outcome: CallOutcome;
}

/** The run stopped; the call needs no answer any more. */
class Stopped extends Error {}

const NEVER = new Promise<never>(() => undefined);

function describeProgress(entry: unknown): string {
  return describeTarget((entry as CallEntry).target);
}

function describeTarget(target: CallTarget): string {
  return target.kind === "tool" ? target.tool : target.kind === "capability" ? target.name : "sleep";
}

function describeDivergence(recorded: CallEntry, target: CallTarget): string {
  const before = recorded.target.kind === "tool" ? recorded.target.tool : recorded.target.kind;
  const now = target.kind === "tool" ? target.tool : target.kind;
  return `The run cannot be gone on with: at ${recorded.node ?? "a dynamic call"} it called ${before} with other arguments before, and ${now} now`;
}

function denied(tool: string, reason: string): CallRefused {
  return new CallRefused({ name: "PermissionError", code: "permission_denied", message: `${tool}: ${reason}` });
}

function unknownOutcome(tool: string): CallRefused {
  const message = `${tool}: the run was interrupted during this call; whether it happened is not known`;
  return new CallRefused({ name: "ToolError", code: "outcome_unknown", message });
}

function asRunError(thrown: unknown): RunError {
  const error = withoutDatabaseText(thrown);
  if (error instanceof PmlError) {
    const { code, message, hint } = error;
    return { code, message, ...(hint === undefined ? {} : { hint }) };
  }
  return { code: "program_error", message: error instanceof Error ? error.message : String(error) };
}
