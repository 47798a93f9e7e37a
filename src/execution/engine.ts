import { randomUUID } from "node:crypto";
import { v7 as newId } from "uuid";
import type { Scope } from "../capabilities/scope.ts";
import type { Db } from "../db/client.ts";
import { PmlError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Logger } from "../log.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { refusalAnswer, toAnswer, type Told } from "./answer.ts";
import { type ApprovedPlan, Approver } from "./approver.ts";
import { findArgumentProblem, mergeDefaults } from "./check-args.ts";
import { type AnswerEntry, Journal, type JournalEntry } from "./journal.ts";
import type { CallTool, RunCaller, ToolDirectory } from "./ports.ts";
import { Programs, type Runnable } from "./programs.ts";
import { type EndedRun, Memory } from "./remember.ts";
import type { ExecuteAnswer, ExecuteRequest } from "./requests.ts";
import type { NestedCall } from "./run-calls.ts";
import { RunSession, type SessionResult } from "./run-session.ts";
import { appendEntries, beginRun, findRun, parkRun, readJournal, type Run, type StoredRun } from "./run-store.ts";
import type { Trace } from "./trace.ts";
import type { RunLimits, Sandbox } from "./worker-bridge.ts";

export interface EngineOptions {
  readonly db: Db;
  readonly sandbox: Sandbox;
  readonly tools: ToolDirectory;
  readonly callTool: CallTool;
  readonly permissions: Permissions;
  readonly limits: RunLimits;
  readonly maxDepth: number;
  readonly resultSeconds: number;
  readonly maxValueBytes: number;
  readonly log: Logger;
}

/** What a run of this process is given up after, when the process does not renew it. */
export const LEASE_SECONDS = 15;

interface RunInProgress {
  readonly run: Run;
  readonly runnable: Runnable;
  readonly plan: ApprovedPlan;
  readonly caller: RunCaller;
  readonly signal: AbortSignal;
  readonly recorded: readonly JournalEntry[];
  readonly depth: number;
  readonly parent?: RunSession;
}

/** Parse, ask, run, remember. */
export class Engine {
  /** Who this process is, in leases. */
  readonly owner = randomUUID();
  readonly programs: Programs;
  readonly #options: EngineOptions;
  readonly #approver: Approver;
  readonly #memory: Memory;
  readonly #active = new Map<string, Promise<ExecuteAnswer>>();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.programs = new Programs(options.db, options.tools);
    this.#approver = new Approver(options.permissions, options.tools);
    this.#memory = new Memory(options);
  }

  async execute(scope: Scope, request: ExecuteRequest, { caller, signal }: Reach): Promise<ExecuteAnswer> {
    const started = performance.now();
    const runnable = await this.#find(scope, request);
    const args = checkArguments(runnable, request.args);
    const run = this.#newRun(scope, runnable, { request, args, caller });
    const tools = await this.programs.reachableTools(scope, runnable);
    const verdict = await this.#approver.decide(run, runnable, { tools, caller });
    const told = { run, runnable, started, byName: request.kind === "capability" };
    if (verdict.kind === "denied") return refusalAnswer(told, verdict.error);
    if (verdict.kind === "waiting") {
      await parkRun(this.#options.db, run, { entries: [], approvalId: verdict.approval.id });
      return toAnswer(told, { kind: "waiting", approval: verdict.approval });
    }
    const approved = { ...run, approvedTools: verdict.plan.tools };
    const progress = { run: approved, runnable, plan: verdict.plan, caller, signal, recorded: [], depth: 0 };
    return this.#start(progress, told);
  }

  /** Goes on with a run that waits, or tells how it ended. Never decides anything in a person's place. */
  async continueRun(scope: Scope, runId: string, { caller, signal }: Reach): Promise<ExecuteAnswer> {
    const started = performance.now();
    const active = this.#active.get(runId);
    if (active !== undefined) return active;
    const run = await this.#findRun(scope, runId);
    const runnable = await this.programs.byId(scope, { id: run.recordId, version: run.version });
    if (run.state !== "parked" && run.state !== "running")
      return toAnswer({ run, runnable, started }, { kind: "over", run });
    return this.#resume(run, runnable, { caller, signal });
  }

  /** Ends a run that waits. */
  async abandonRun(scope: Scope, runId: string): Promise<ExecuteAnswer> {
    const started = performance.now();
    const run = await this.#findRun(scope, runId);
    const runnable = await this.programs.byId(scope, { id: run.recordId, version: run.version });
    if (run.state !== "parked") return toAnswer({ run, runnable, started }, { kind: "over", run });
    return this.#end(run, runnable, { kind: "cancelled" });
  }

  async #resume(run: StoredRun, runnable: Runnable, { caller, signal }: Reach): Promise<ExecuteAnswer> {
    const started = performance.now();
    const tools = await this.programs.reachableTools(run.scope, runnable);
    const verdict = await this.#approver.decideAgain(run, runnable, { tools, caller });
    if (verdict.kind === "denied") return this.#end(run, runnable, { kind: "failed", error: verdict.error });
    if (verdict.kind === "waiting")
      return toAnswer({ run, runnable, started }, { kind: "waiting", approval: verdict.approval });
    const recorded = await readJournal(this.#options.db, run.scope, run.id);
    const going = { ...run, approvedTools: verdict.plan.tools };
    const progress = { run: going, runnable, plan: verdict.plan, caller, signal, recorded, depth: 0 };
    return this.#start(progress, { run: going, runnable, started });
  }

  #start(progress: RunInProgress, told: Told): Promise<ExecuteAnswer> {
    const { run } = progress;
    const answer = this.#runToAnswer(progress, told).finally(() => this.#active.delete(run.id));
    this.#active.set(run.id, answer);
    return answer;
  }

  async #runToAnswer(progress: RunInProgress, told: Told): Promise<ExecuteAnswer> {
    const { run, runnable, caller } = progress;
    const { session, result, nested } = await this.#runSession(progress);
    if (result.ended.kind === "parked") {
      const approval = await this.#approver.requestFor(run, runnable, { reason: result.ended.reason, caller });
      const entries = await session.journal.close();
      await parkRun(this.#options.db, run, { entries, approvalId: approval?.id });
      const stop = approval === undefined ? ({ kind: "layer" } as const) : ({ kind: "waiting", approval } as const);
      return toAnswer({ ...told, entries: session.journal.entries }, stop);
    }
    const { journal } = session;
    const { logs, ended } = result;
    const trace = await this.#remember({ run, runnable, journal, logs, ended, nested, started: told.started });
    return toAnswer({ ...told, trace, logs, warnings: result.warnings }, { kind: "ended", ended });
  }

  async #runSession(progress: RunInProgress): Promise<{
    session: RunSession;
    result: SessionResult;
    nested: Map<string, string>;
  }> {
    const { run, runnable, recorded, depth, signal, caller, plan, parent } = progress;
    const { db, sandbox, limits, tools, callTool } = this.#options;
    const nested = new Map<string, string>();
    let begun = recorded.length > 0;
    const session: RunSession = new RunSession({
      run,
      runnable,
      recorded,
      sandbox,
      limits,
      depth,
      signal,
      write: async (entries) => {
        // A nested run exists only through the call that made it.
        await parent?.journal.flush();
        if (begun) return appendEntries(db, run, entries);
        await beginRun(db, run, { entries, lease: { owner: this.owner, seconds: LEASE_SECONDS } });
        begun = true;
      },
      calls: {
        tools,
        caller,
        callTool,
        newRunId: newId,
        guard: (tool) => plan.check(tool),
        resolveAmbiguous: (call) => this.#approver.resolveAmbiguous(run, call),
        callCapability: (call) => this.#callCapability(call, { progress, session, nested }),
      },
    });
    return { session, result: await session.execute(), nested };
  }

  async #callCapability(
    call: NestedCall,
    { progress, session, nested }: { progress: RunInProgress; session: RunSession; nested: Map<string, string> },
  ): Promise<AnswerEntry["outcome"]> {
    const started = performance.now();
    const { run: parent, caller, plan, signal, depth } = progress;
    try {
      if (depth + 1 > this.#options.maxDepth) throw tooDeep(this.#options.maxDepth);
      const runnable = await this.programs.byName(parent.scope, call.name);
      nested.set(call.name, runnable.capability.id);
      const args = checkArguments(runnable, call.args);
      const run: Run = {
        ...parent,
        ...identify(runnable),
        id: call.runId,
        args,
        parent: { runId: parent.id, call: call.call },
        options: {},
      };
      const known = await this.#knownNested(run, session);
      if (known !== undefined && known.state !== "running" && known.state !== "parked") return storedOutcome(known);
      const recorded = known === undefined ? [] : await readJournal(this.#options.db, run.scope, run.id);
      const child = { run, runnable, plan, caller, signal, recorded, depth: depth + 1, parent: session };
      return await this.#runNested(child, started);
    } catch (error) {
      if (!(error instanceof PmlError)) throw error;
      return { ok: false, error: { name: "CapabilityError", code: error.code, message: error.message } };
    }
  }

  /** Only a run that was gone on with can have nested runs from before. */
  async #knownNested(run: Run, parent: RunSession): Promise<StoredRun | undefined> {
    return parent.wasResumed ? await findRun(this.#options.db, run.scope, run.id) : undefined;
  }

  async #runNested(child: RunInProgress, started: number): Promise<AnswerEntry["outcome"]> {
    const { run, runnable, parent } = child;
    const { session, result, nested } = await this.#runSession(child);
    const { ended } = result;
    if (ended.kind === "parked") {
      await parent?.journal.flush();
      await parkRun(this.#options.db, run, { entries: await session.journal.close(), approvalId: undefined });
      parent?.park(ended.reason);
      return new Promise(() => undefined); // the parent has stopped with it
    }
    await this.#remember({ run, runnable, journal: session.journal, logs: result.logs, ended, nested, started });
    if (ended.kind === "returned") return { ok: true, value: ended.value };
    const error = ended.kind === "failed" ? ended.error : { code: "cancelled", message: "the run was cancelled" };
    return { ok: false, error: { name: "CapabilityError", code: error.code, message: error.message } };
  }

  #remember(ended: Omit<EndedRun, "durationMs"> & { readonly started: number }): Promise<Trace> {
    const { started, ...rest } = ended;
    if (rest.runnable.capability.state === "draft") this.programs.forget();
    return this.#memory.remember({ ...rest, durationMs: performance.now() - started });
  }

  /** Ends a run that waits, without running it. */
  async #end(run: StoredRun, runnable: Runnable, ended: EndedRun["ended"]): Promise<ExecuteAnswer> {
    const started = performance.now();
    const recorded = await readJournal(this.#options.db, run.scope, run.id);
    const journal = new Journal((entries) => appendEntries(this.#options.db, run, entries), recorded);
    const trace = await this.#remember({ run, runnable, journal, ended, logs: [], nested: new Map(), started });
    return toAnswer({ run, runnable, started, trace }, { kind: "ended", ended });
  }

  async #find(scope: Scope, request: ExecuteRequest): Promise<Runnable> {
    switch (request.kind) {
      case "code":
        return this.programs.fromCode(scope, request.code, request);
      case "dag":
        return this.programs.fromDag(scope, request.dag, request);
      case "capability":
        return this.programs.byName(scope, request.name);
    }
  }

  async #findRun(scope: Scope, runId: string): Promise<StoredRun> {
    const run = await findRun(this.#options.db, scope, runId);
    if (run === undefined)
      throw new PmlError("run_not_found", `No run has the id ${runId}`, { hint: "`pml runs` lists them." });
    return run;
  }

  #newRun(
    scope: Scope,
    runnable: Runnable,
    { request, args, caller }: { request: ExecuteRequest; args: JsonObject; caller: RunCaller },
  ): Run {
    const { dryRun: _notKept, ...options } = request.options;
    return {
      ...identify(runnable),
      id: newId(),
      scope,
      intent: request.intent,
      args,
      seed: Math.floor(Math.random() * 2 ** 32),
      startedMs: Date.now(),
      principal: caller.principal,
      client: caller.client,
      parent: undefined,
      options,
      approvedTools: [],
    };
  }
}

/** How a run reaches whoever asked for it. */
export interface Reach {
  readonly caller: RunCaller;
  readonly signal: AbortSignal;
}

function identify({ capability, body }: Runnable): Pick<Run, "kind" | "recordId" | "version" | "sourceHash"> {
  const { id, version, sourceHash } = capability;
  return { kind: body.kind, recordId: id, version, sourceHash };
}

function checkArguments({ capability }: Runnable, given: JsonObject): JsonObject {
  const args = mergeDefaults(given, capability.parameters);
  const problem = findArgumentProblem(args, capability.parameters);
  if (problem === undefined) return args;
  throw new PmlError("arguments_invalid", problem, { hint: "Pass the program's parameters in args." });
}

function storedOutcome({ state, result, error }: StoredRun): AnswerEntry["outcome"] {
  if (state === "succeeded") return { ok: true, value: result ?? null };
  const { code, message } = error ?? { code: "cancelled", message: "the run was cancelled" };
  return { ok: false, error: { name: "CapabilityError", code, message } };
}

function tooDeep(limit: number): PmlError {
  return new PmlError("nesting_too_deep", `Capabilities call each other more than ${limit} levels deep`, {
    hint: "The limit is sandbox.maxDepth.",
  });
}
