import type { Catalogue } from "../catalogue/catalogue.ts";
import { randomUUID } from "node:crypto";
import { v7 as newId } from "uuid";
import { countUse } from "../registry/record-store.ts";
import type { Db } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { ApprovedPlan, Approver } from "./approver.ts";
import { checkArguments } from "./check-args.ts";
import type { AnswerEntry, JournalEntry } from "./journal.ts";
import { Memos } from "./memos.ts";
import type { CallTool, RunCaller } from "./ports.ts";
import { RunBudget } from "./run-budget.ts";
import { callerKey, type Programs, type Runnable } from "./programs.ts";
import { openEntries, sealEntries, sealRun } from "./seal-run.ts";
import type { RunError } from "../contract/execute.ts";
import { type CalledCapabilities, type CalledCapability, type EndedRun, RunMemory } from "./remember.ts";
import type { NestedCall, ParkReason } from "./run-calls.ts";
import type { RunKeeper } from "./run-keeper.ts";
import { RunSession, type SessionResult } from "./run-session.ts";
import { findRun, parkRun, readJournal, readNestedJournals, type Run, type StoredRun } from "./run-store.ts";
import type { Trace } from "./trace.ts";
import type { RunLimits, Sandbox } from "./worker-bridge.ts";

export interface RunnerOptions {
  readonly db: Db;
  readonly keeper: RunKeeper;
  readonly sandbox: Sandbox;
  readonly tools: Catalogue;
  readonly callTool: CallTool;
  readonly limits: RunLimits;
  readonly maxDepth: number;
  readonly resultSeconds: number;
  readonly maxValueBytes: number;
  readonly log: Logger;
}

/** Lease duration; another process may claim a run whose lease has expired. */
export const LEASE_SECONDS = 15;

export interface RunInProgress {
  readonly run: Run;
  readonly runnable: Runnable;
  readonly plan: ApprovedPlan;
  readonly caller: RunCaller;
  readonly signal: AbortSignal;
  readonly recorded: readonly JournalEntry[];
  readonly depth: number;
  /** Key of the program in the plan's nested uses; empty for the one the plan was made for. */
  readonly planKey: string;
  readonly parent?: RunSession;
}

export interface FinishedSession {
  readonly session: RunSession;
  readonly result: SessionResult;
  readonly nested: CalledCapabilities;
}

/** Runs programs, and the capabilities they call as nested runs. */
export class Runner {
  /** Id of this process in leases. */
  readonly owner = randomUUID();
  readonly #options: RunnerOptions;
  readonly #programs: Programs;
  readonly #approver: Approver;
  readonly #memory: RunMemory;
  readonly #cache: Memos;

  constructor(options: RunnerOptions, programs: Programs, approver: Approver) {
    this.#options = options;
    this.#programs = programs;
    this.#approver = approver;
    this.#memory = new RunMemory(options);
    this.#cache = new Memos(options.db);
  }

  async run(progress: RunInProgress): Promise<FinishedSession> {
    const { run, runnable, recorded, depth, signal, caller, plan } = progress;
    const { sandbox, limits, tools, callTool } = this.#options;
    const nested = new Map<string, CalledCapability>();
    const session: RunSession = new RunSession({
      run,
      runnable,
      recorded,
      sandbox,
      limits,
      budget: await this.#budgetOf(progress),
      depth,
      signal,
      write: this.#createWriter(progress),
      calls: {
        tools,
        caller,
        callTool: (request) => {
          run.secrets.learn(request.args, tools.findById(request.tool)?.inputSchema);
          return callTool(request);
        },
        newRunId: newId,
        guard: (tool, args) => plan.check(tool, args),
        resolveAmbiguous: (call) => this.#approver.resolveAmbiguous(plan, run, call),
        callCapability: async (call) =>
          (await session.supervise(this.#callCapability(call, { progress, session, nested }))) ?? STOPPED,
      },
    });
    progress.parent?.adopt(session);
    const result = await session.execute();
    progress.parent?.release(session);
    return { session, result, nested };
  }

  async remember(ended: Omit<EndedRun, "durationMs"> & { readonly started: number }): Promise<Trace> {
    const { started, ...rest } = ended;
    const trace = await this.#memory.remember({ ...rest, durationMs: performance.now() - started });
    const { capability } = rest.runnable;
    const isElsewhere = rest.settled !== undefined && callerKey(rest.settled.capability) !== callerKey(capability);
    if (capability.state === "draft" || isElsewhere) this.#programs.forget();
    return trace;
  }

  /** Returns a cached result; only for plans that only read. */
  async findCachedResult(progress: RunInProgress): Promise<AnswerEntry["outcome"] | undefined> {
    const { run, runnable, plan } = progress;
    if (!plan.onlyReads || hasOwnText(run)) return undefined;
    const { capability } = runnable;
    const started = performance.now();
    const memo = await this.#cache.find(run, capability, run.args);
    if (memo === undefined) return undefined;
    const use = { id: capability.id, success: true, latencyMs: performance.now() - started };
    await countUse(this.#options.db, run.scope.org, use);
    return { ok: true, value: memo.value };
  }

  async cacheResult({ run, runnable, plan }: RunInProgress, { ended }: SessionResult): Promise<void> {
    if (ended.kind !== "returned" || !plan.onlyReads || hasOwnText(run)) return;
    if (runnable.capability.cachePolicy === "none") return;
    // A result without its secrets would be a different one.
    if (run.secrets.hide(ended.value) !== ended.value) return;
    await this.#cache.keep(run, runnable.capability, { args: run.args, value: ended.value });
  }

  /** Nested runs share the budget of the outermost one. */
  async #budgetOf({ run, recorded, parent }: RunInProgress): Promise<RunBudget> {
    if (parent !== undefined) return parent.budget;
    const ended = recorded.length === 0 ? [] : await readNestedJournals(this.#options.db, run);
    return new RunBudget(this.#options.limits, ended);
  }

  #createWriter({ run, recorded, parent }: RunInProgress): (entries: readonly JournalEntry[]) => Promise<void> {
    const { keeper } = this.#options;
    let begun = recorded.length > 0;
    return async (entries) => {
      // A nested run is recoverable only through its parent's call, so that comes first.
      await parent?.journal.flush();
      const sealed = sealEntries(run, entries);
      if (begun) return keeper.note(run, sealed);
      await keeper.note(sealRun(run), sealed, { owner: this.owner, seconds: LEASE_SECONDS });
      begun = true;
    };
  }

  async #callCapability(
    call: NestedCall,
    {
      progress,
      session,
      nested,
    }: { progress: RunInProgress; session: RunSession; nested: Map<string, CalledCapability> },
  ): Promise<AnswerEntry["outcome"] | undefined> {
    const { run: parent, depth } = progress;
    try {
      if (depth + 1 > this.#options.maxDepth) throw tooDeep(this.#options.maxDepth);
      const called = await this.#findNested(progress, call);
      if (called.kind === "denied") return toOutcome(called.error);
      if (called.kind === "asked") {
        session.park(called);
        return undefined;
      }
      const { runnable, plan, planKey } = called;
      const { id, version } = runnable.capability;
      nested.set(call.name, { id, version });
      const args = checkArguments(runnable, call.args);
      parent.secrets.learn(args, runnable.capability.parameters);
      const run: Run = {
        ...parent,
        ...identify(runnable),
        id: call.runId,
        args,
        parent: { runId: parent.id, call: call.call },
        options: {},
      };
      const known = session.wasResumed ? await findRun(this.#options.db, run.scope, run.id) : undefined;
      if (known !== undefined && isOver(known)) return storedOutcome(known);
      const recorded =
        known === undefined ? [] : openEntries(run, await readJournal(this.#options.db, run.scope, run.id));
      const signal = AbortSignal.any([progress.signal, session.over]);
      const child = { ...progress, run, runnable, plan, planKey, recorded, depth: depth + 1, parent: session, signal };
      return await this.#runNested(child);
    } catch (error) {
      if (!(error instanceof PmlError)) throw error;
      return toOutcome(error);
    }
  }

  /**
   * Finds the capability that the plan binds the name to. A name that the plan does not have, because it was computed or
   * stood for nothing, is resolved now and needs a decision of its own.
   */
  async #findNested(progress: RunInProgress, call: NestedCall): Promise<FoundNested> {
    const { run, runnable: caller, plan, planKey } = progress;
    const bound = plan.findNested(planKey, call.name);
    if (bound !== undefined) {
      this.#programs.logAlias(bound.resolved);
      return { kind: "found", plan, runnable: bound.runnable, planKey: callerKey(bound.runnable.capability) };
    }
    const asker = { scope: run.scope, principal: run.principal, client: run.client };
    const runnable = await this.#programs.nested(asker, caller.capability, call.name);
    const reach = await this.#programs.reach(asker, runnable);
    const decided = await this.#approver.decideNested(run, runnable, { reach, call });
    if (decided.kind === "approved") return { kind: "found", plan: decided.plan, runnable, planKey: "" };
    return decided;
  }

  /** Returns undefined if the nested run parked, and its parent with it. */
  async #runNested(child: RunInProgress): Promise<AnswerEntry["outcome"] | undefined> {
    const started = performance.now();
    const { run, runnable, parent } = child;
    const remembered = await this.findCachedResult(child);
    if (remembered !== undefined) return remembered;
    const { session, result, nested } = await this.run(child);
    const { ended, logs } = result;
    if (ended.kind === "parked") {
      await parent?.journal.flush();
      await parkRun(this.#options.db, sealRun(run), { entries: sealEntries(run, await session.journal.close()) });
      parent?.park(ended.reason);
      return undefined;
    }
    await this.remember({ run, runnable, journal: session.journal, logs, ended, nested, started });
    await this.cacheResult(child, result);
    if (ended.kind === "returned") return { ok: true, value: ended.value };
    const error = ended.kind === "failed" ? ended.error : { code: "cancelled", message: "the run was cancelled" };
    return toOutcome(error);
  }
}

type FoundNested =
  | { readonly kind: "found"; readonly runnable: Runnable; readonly plan: ApprovedPlan; readonly planKey: string }
  | Extract<ParkReason, { kind: "asked" }>
  | { readonly kind: "denied"; readonly error: RunError };

/** Answers calls of a parked run: never settles. */
const STOPPED = new Promise<never>(() => undefined);

export function identify({ capability, body }: Runnable): Pick<Run, "kind" | "recordId" | "version" | "sourceHash"> {
  const { id, version, sourceHash } = capability;
  return { kind: body.kind, recordId: id, version, sourceHash };
}

/** A text with values of its own, whose result is not the one that the capability gives for the same arguments. */
function hasOwnText({ options }: Run): boolean {
  return options.text !== undefined;
}

export function isOver({ state }: StoredRun): boolean {
  return state !== "running" && state !== "parked";
}

function storedOutcome({ state, result, error }: StoredRun): AnswerEntry["outcome"] {
  if (state === "succeeded") return { ok: true, value: result ?? null };
  return toOutcome(error ?? { code: "cancelled", message: "the run was cancelled" });
}

function toOutcome({ code, message }: Pick<RunError, "code" | "message">): AnswerEntry["outcome"] {
  return { ok: false, error: { name: "CapabilityError", code, message } };
}

function tooDeep(limit: number): PmlError {
  return new PmlError("nesting_too_deep", `Capabilities call each other more than ${limit} levels deep`, {
    hint: "The limit is sandbox.maxDepth.",
  });
}
