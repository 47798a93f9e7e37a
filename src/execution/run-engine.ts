import { v7 as newId } from "uuid";
import type { CapabilityRegistry } from "../registry/capability-registry.ts";
import { isUnnamed } from "../registry/fqdn.ts";
import type { Asker, Scope } from "../registry/scope.ts";
import { PmlError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { refusalAnswer, toAnswer, type Told } from "./run-answer.ts";
import { Approver } from "./approver.ts";
import { DryRun } from "./dry-run.ts";
import { Journal } from "./journal.ts";
import type { RunCaller } from "./ports.ts";
import type { Programs, Runnable } from "./programs.ts";
import type { EndedRun } from "./remember.ts";
import type { ExecuteAnswer, ExecuteRequest } from "./requests.ts";
import { runBody } from "./run-session.ts";
import { claimParkedRun, findRun, listRuns, parkRun, readJournal, type Run, type StoredRun } from "./run-store.ts";
import {
  checkArguments,
  identify,
  isOver,
  LEASE_SECONDS,
  Runner,
  type RunInProgress,
  type RunnerOptions,
} from "./runner.ts";

export interface EngineOptions extends RunnerOptions {
  readonly permissions: Permissions;
  readonly programs: Programs;
  readonly registry: CapabilityRegistry;
}

/** How a run reaches whoever asked for it. */
export interface Reach {
  readonly caller: RunCaller;
  readonly signal: AbortSignal;
}

const JOURNALS_FOR_DRY_RUNS = 5;

/** Parse, ask, run, remember. */
export class Engine {
  readonly programs: Programs;
  readonly runner: Runner;
  readonly #options: EngineOptions;
  readonly #approver: Approver;
  readonly #active = new Map<string, Promise<ExecuteAnswer>>();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.programs = options.programs;
    this.#approver = new Approver(options.permissions, options.tools);
    this.runner = new Runner(options, this.programs, this.#approver);
  }

  async execute(scope: Scope, request: ExecuteRequest, reach: Reach): Promise<ExecuteAnswer> {
    const started = performance.now();
    const asker = { scope, principal: reach.caller.principal, client: reach.caller.client };
    const runnable = await this.#find(asker, request);
    const args = checkArguments(runnable, request.args);
    const run = newRun(scope, runnable, { request, args, caller: reach.caller });
    const told = { run, runnable, started, byName: request.kind === "capability" };
    if (request.options.dryRun === true) return this.#dryRun(told, reach);
    const tools = await this.programs.reachableTools(asker, runnable);
    const verdict = await this.#approver.decide(run, runnable, { tools, caller: reach.caller });
    if (verdict.kind === "denied") return refusalAnswer(told, verdict.error);
    if (verdict.kind === "waiting") {
      await parkRun(this.#options.db, run, { entries: [], approvalId: verdict.approval.id });
      return toAnswer(told, { kind: "waiting", approval: verdict.approval });
    }
    const { plan } = verdict;
    return this.#start(
      { ...reach, run: { ...run, approvedTools: plan.tools }, runnable, plan, recorded: [], depth: 0 },
      told,
    );
  }

  /** Why a capability cannot be run at once, with these arguments and without asking anybody; undefined where it can. */
  async whyNotAtOnce(scope: Scope, request: ExecuteRequest, caller: RunCaller): Promise<string | undefined> {
    try {
      const asker = { scope, principal: caller.principal, client: caller.client };
      const runnable = await this.#find(asker, request);
      const run = newRun(scope, runnable, { request, args: checkArguments(runnable, request.args), caller });
      const tools = await this.programs.reachableTools(asker, runnable);
      const { decision, reasons } = await this.#approver.judge(run, runnable, tools);
      if (decision === "allow") return undefined;
      const what = decision === "deny" ? "it is not permitted" : "a person would have to be asked";
      return `${what}: ${reasons.join("; ")}`;
    } catch (error) {
      if (error instanceof PmlError) return error.message;
      throw error;
    }
  }

  /** Goes on with a run that waits, or tells how it ended. Never decides anything in a person's place. */
  async continueRun(scope: Scope, runId: string, reach: Reach): Promise<ExecuteAnswer> {
    const started = performance.now();
    const run = await this.#findRun(scope, runId, reach.caller);
    const runnable = await this.programs.byId(scope, { id: run.recordId, version: run.version });
    const told = { run, runnable, started };
    const active = this.#active.get(runId);
    if (active !== undefined) return active;
    return isOver(run) ? toAnswer(told, { kind: "over", run }) : this.#resume(run, told, reach);
  }

  /** Ends a run that waits. */
  async abandonRun(scope: Scope, runId: string, caller: RunCaller): Promise<ExecuteAnswer> {
    const run = await this.#findRun(scope, runId, caller);
    const runnable = await this.programs.byId(scope, { id: run.recordId, version: run.version });
    const told = { run, runnable, started: performance.now() };
    return isOver(run) ? toAnswer(told, { kind: "over", run }) : this.#end(told, { kind: "cancelled" });
  }

  async #resume(run: StoredRun, told: Told, reach: Reach): Promise<ExecuteAnswer> {
    const { runnable } = told;
    const tools = await this.programs.reachableTools(run, runnable);
    const verdict = await this.#approver.decideAgain(run, runnable, { tools, caller: reach.caller });
    if (verdict.kind === "denied") return this.#end(told, { kind: "failed", error: verdict.error });
    if (verdict.kind === "waiting") return toAnswer(told, { kind: "waiting", approval: verdict.approval });
    await this.#claim(run);
    const recorded = await readJournal(this.#options.db, run.scope, run.id);
    const { plan } = verdict;
    return this.#start(
      { ...reach, run: { ...run, approvedTools: plan.tools }, runnable, plan, recorded, depth: 0 },
      told,
    );
  }

  /** One process goes on with a run, whoever else tries to. */
  async #claim(run: StoredRun): Promise<void> {
    const { owner } = this.runner;
    const lease = { owner, seconds: LEASE_SECONDS };
    const isOurs = run.state === "parked" ? await claimParkedRun(this.#options.db, run, lease) : run.owner === owner;
    if (isOurs) return;
    throw new PmlError("run_in_progress", `The run ${run.id} is under way`, {
      hint: "Ask again in a moment; it will tell how it ended.",
    });
  }

  #start(progress: RunInProgress, told: Told): Promise<ExecuteAnswer> {
    const { id } = progress.run;
    const answer = this.#runToAnswer(progress, told).finally(() => this.#active.delete(id));
    this.#active.set(id, answer);
    return answer;
  }

  async #runToAnswer(progress: RunInProgress, told: Told): Promise<ExecuteAnswer> {
    const { run, runnable, plan } = progress;
    const remembered = await this.runner.answerFromMemory(progress);
    if (remembered?.ok === true) {
      const ended = { kind: "returned", value: remembered.value } as const;
      return toAnswer(await this.#name(told), { kind: "ended", ended });
    }
    const { session, result, nested } = await this.runner.run(progress);
    const { ended, logs, warnings } = result;
    const { journal } = session;
    if (ended.kind === "parked") return this.#park(progress, told, { journal, reason: ended.reason });
    const { permissions } = plan;
    const end = { run, runnable, journal, logs, ended, nested, permissions, started: told.started };
    const trace = await this.runner.remember(end);
    await this.runner.keepForMemory(progress, result);
    const named = ended.kind === "returned" ? await this.#name(told) : told;
    return toAnswer({ ...named, trace, logs, warnings }, { kind: "ended", ended });
  }

  /** A program that succeeded gets the name that was asked for. What it did stays done if that is gone meanwhile. */
  async #name(told: Told): Promise<Told> {
    const { run, runnable } = told;
    const { capability } = runnable;
    const { naming } = run.options;
    if (naming === undefined || runnable.warnings.length > 0 || !isUnnamed(capability.displayName)) return told;
    const program = {
      asker: run,
      id: capability.id,
      naming,
      via: "agent",
      fresh: capability.state === "draft",
    } as const;
    const notices = [...runnable.notices];
    try {
      const { record } = await this.#options.registry.nameProgram(program);
      const { id, version, displayName, fqdn } = record;
      return { ...told, runnable: { ...runnable, capability: { ...capability, id, version, displayName, fqdn } } };
    } catch (error) {
      if (!(error instanceof PmlError)) throw error;
      notices.push(`${error.message}; the program is kept as ${capability.displayName}`);
      return { ...told, runnable: { ...runnable, notices } };
    }
  }

  /** A client that can ask a person does so at once; then the run simply goes on. */
  async #park(
    { run, runnable, caller, signal }: RunInProgress,
    told: Told,
    { journal, reason }: { journal: Journal; reason: Parameters<Approver["requestFor"]>[2]["reason"] },
  ): Promise<ExecuteAnswer> {
    const { db } = this.#options;
    const approval = await this.#approver.requestFor(run, runnable, { reason, caller });
    const entries = await journal.close();
    await parkRun(db, run, { entries, approvalId: approval?.id });
    if (approval === undefined) return toAnswer({ ...told, entries: journal.entries }, { kind: "layer" });
    if (approval.state !== "pending")
      return this.#resume(await this.#findRun(run.scope, run.id, caller), told, { caller, signal });
    return toAnswer({ ...told, entries: journal.entries }, { kind: "waiting", approval });
  }

  /** Ends a run that waits, without running it. */
  async #end(told: Told, ended: EndedRun["ended"]): Promise<ExecuteAnswer> {
    const { run, runnable, started } = told;
    const { db, keeper } = this.#options;
    const journal = new Journal((entries) => keeper.note(run, entries), await readJournal(db, run.scope, run.id));
    const trace = await this.runner.remember({ run, runnable, journal, ended, logs: [], nested: new Map(), started });
    return toAnswer({ ...told, trace }, { kind: "ended", ended });
  }

  /** What would be called, with which permissions. Nothing is, and nothing is kept. */
  async #dryRun(told: Told, { signal }: Reach): Promise<ExecuteAnswer> {
    const { run, runnable } = told;
    const { db, sandbox, limits, tools } = this.#options;
    const stop = new AbortController();
    const recent = await listRuns(db, run.scope, {
      recordId: run.recordId,
      states: ["succeeded"],
      limit: JOURNALS_FOR_DRY_RUNS,
    });
    const host = new DryRun({
      tools,
      journals: await Promise.all(recent.map(({ id }) => readJournal(db, run.scope, id))),
      decide: (tool) => this.#approver.decideTool(run, tool),
      stop: () => stop.abort(),
    });
    const both = AbortSignal.any([signal, stop.signal]);
    const { ended } = await runBody({ run, runnable, sandbox, limits, depth: 0 }, host, both);
    const reached = new Set(host.plan.map(({ nodeId }) => nodeId));
    const possible = runnable.structure.nodes.flatMap((node) =>
      node.type === "task" && !reached.has(node.id) ? [node.tool] : [],
    );
    const outcome = ended.kind === "cancelled" ? undefined : ended;
    return toAnswer(told, { kind: "dry_run", plan: host.plan, possible: [...new Set(possible)], outcome });
  }

  #find(asker: Asker, request: ExecuteRequest): Promise<Runnable> {
    switch (request.kind) {
      case "code":
        return this.programs.fromCode(asker, request.code, request);
      case "dag":
        return this.programs.fromDag(asker, request.dag, request);
      case "tool":
        return this.programs.fromTool(asker, request, request);
      case "capability":
      default:
        return this.programs.byName(asker, request.capability);
    }
  }

  /** Of another principal it is as if there were none. */
  async #findRun(scope: Scope, runId: string, { principal }: RunCaller): Promise<StoredRun> {
    const run = await findRun(this.#options.db, scope, runId);
    if (run === undefined || run.principal !== principal)
      throw new PmlError("run_not_found", `No run has the id ${runId}`, { hint: "`pml runs` lists them." });
    return run;
  }
}

function newRun(
  scope: Scope,
  runnable: Runnable,
  { request, args, caller }: { request: ExecuteRequest; args: JsonObject; caller: RunCaller },
): Run {
  const { dryRun: _notKept, ...rest } = request.options;
  const naming = request.kind === "capability" ? undefined : request.naming;
  const options = naming === undefined ? rest : { ...rest, naming };
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
