import { v7 as newId } from "uuid";
import type { CapabilityRegistry } from "../registry/capability-registry.ts";
import { isUnnamed } from "../registry/fqdn.ts";
import type { Asker, Scope } from "../registry/scope.ts";
import { PmlError } from "../base/errors.ts";
import { bindArguments } from "../analysis/behaviour/bind-arguments.ts";
import type { JsonObject } from "../base/json.ts";
import type { Approval } from "../permissions/approval.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { type ReadyCall, refusalAnswer, toAnswer, type RunReport } from "./run-answer.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { AnalysedPrograms } from "./analysed-programs.ts";
import { Approver } from "./approver.ts";
import { DryRun } from "./dry-run.ts";
import { Generaliser, type SettledRun } from "./generaliser.ts";
import { Journal } from "./journal.ts";
import type { RunCaller } from "./ports.ts";
import { checkArguments, checkOwnArguments, refuseLargeArguments } from "./check-args.ts";
import { isProvisional, type Programs, type Runnable } from "./programs.ts";
import type { EndedRun } from "./remember.ts";
import type { RunAnswer, RunError } from "../contract/execute.ts";
import { countParkedRuns, expiredRun } from "./parked-store.ts";
import type { RunRequest } from "./requests.ts";
import { runBody } from "./run-session.ts";
import { openEntries, openRun, sealEntries, sealRun } from "./seal-run.ts";
import {
  claimParkedRun,
  findRun,
  listRuns,
  parkRun,
  pointAtApproval,
  readJournal,
  type Run,
  type StoredRun,
} from "./run-store.ts";
import { identify, isOver, LEASE_SECONDS, Runner, type RunInProgress, type RunnerOptions } from "./runner.ts";

export interface EngineOptions extends RunnerOptions {
  readonly analysed: AnalysedPrograms;
  readonly secrets: Secrets;
  readonly permissions: Permissions;
  readonly programs: Programs;
  readonly registry: CapabilityRegistry;
  readonly parking: ParkingLimits;
}

interface ParkingLimits {
  /** A parked run has failed after these days. */
  readonly parkedDays: number;
  /** The most runs of one principal that may wait. */
  readonly maxParked: number;
}

const DAY_MS = 86_400_000;

/** The caller of a run, and the signal that cancels it. */
export interface RunContext {
  readonly caller: RunCaller;
  readonly signal: AbortSignal;
}

const JOURNALS_FOR_DRY_RUNS = 5;

/** Executes requests: analyses, decides, runs, stores. */
export class Engine {
  readonly programs: Programs;
  readonly runner: Runner;
  readonly #options: EngineOptions;
  readonly #approver: Approver;
  readonly #generaliser: Generaliser;
  readonly #active = new Map<string, Promise<RunAnswer>>();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.programs = options.programs;
    this.#approver = new Approver(options.permissions, options.tools);
    this.runner = new Runner(options, this.programs, this.#approver);
    this.#generaliser = new Generaliser(options);
  }

  async execute(scope: Scope, request: RunRequest, context: RunContext): Promise<RunAnswer> {
    const started = performance.now();
    const asker = toAsker(scope, context.caller);
    refuseLargeArguments(request.args, this.#options.limits.maxArgumentBytes);
    const { runnable, args } = checkRequest(await this.#find(asker, request), request);
    const run = this.#newRun(scope, runnable, { request, args, caller: context.caller });
    const report = { run, runnable, started, byName: request.kind === "capability" };
    if (request.options.dryRun === true) return this.#dryRun(report, context);
    const reach = await this.programs.reach(asker, runnable);
    const verdict = await this.#approver.decide(run, runnable, { reach, caller: context.caller });
    if (verdict.kind === "denied") return refusalAnswer(report, verdict.error);
    if (verdict.kind === "waiting") {
      const full = await this.#findParkingProblem(run);
      if (full !== undefined) return refusalAnswer(report, full);
      await parkRun(this.#options.db, sealRun(run), { entries: [], approvalId: verdict.approval.id });
      const ready = await this.#findReadyCall(run, runnable, context.caller);
      return toAnswer(report, { kind: "waiting", approval: verdict.approval, ready });
    }
    const { plan } = verdict;
    return this.#start(
      { ...context, run: { ...run, approvedTools: plan.grants }, runnable, plan, recorded: [], depth: 0, planKey: "" },
      report,
    );
  }

  /** The capability that the program may be, with the program's values, if it could run without a question. */
  async #findReadyCall(run: Run, runnable: Runnable, caller: RunCaller): Promise<ReadyCall | undefined> {
    const { capability, body } = runnable;
    if (body.kind !== "code" || !isProvisional(runnable) || capability.source.type !== "code") return undefined;
    const stored = await this.#options.analysed.analyse(capability.source.code);
    if (stored.behaviour === undefined || body.program.behaviour === undefined) return undefined;
    const args = bindArguments(stored.behaviour.calls, { calls: body.program.behaviour.calls, args: run.args });
    if (args === undefined || run.secrets.hide(args) !== args) return undefined;
    const { displayName } = capability;
    const request = { kind: "capability", capability: displayName, args, intent: run.intent, options: {} } as const;
    const reason = await this.whyNotAtOnce(run.scope, request, caller);
    return reason === undefined ? { capability: displayName, args } : undefined;
  }

  /** Reason why a capability cannot run at once with these arguments, without asking anyone; undefined if it can. */
  async whyNotAtOnce(scope: Scope, request: RunRequest, caller: RunCaller): Promise<string | undefined> {
    try {
      const asker = toAsker(scope, caller);
      const runnable = await this.#find(asker, request);
      const run = this.#newRun(scope, runnable, { request, args: checkArguments(runnable, request.args), caller });
      const reach = await this.programs.reach(asker, runnable);
      const { decision, tools, reasons } = (await this.#approver.judge(run, runnable, reach)).verdict;
      if (decision === "allow") return undefined;
      if (decision === "deny") return `it is not permitted: ${reasons.join("; ")}`;
      // the reasons are for people and name what they can do
      const asked = tools.filter((each) => each.decision === "ask").map(({ tool, effect }) => `${tool} (${effect})`);
      return `a person would have to be asked: ${asked.join(", ") || "it calls tools by computed names"}`;
    } catch (error) {
      if (error instanceof PmlError) return error.message;
      throw error;
    }
  }

  /** Resumes a parked run, or returns the outcome of a finished one. Never decides in a person's place. */
  async continueRun(scope: Scope, runId: string, context: RunContext): Promise<RunAnswer> {
    const started = performance.now();
    const run = await this.#findRun(scope, runId, context.caller);
    const runnable = await this.programs.ofRun(run);
    const report = { run, runnable, started };
    const active = this.#active.get(runId);
    if (active !== undefined) return active;
    const { parkedDays } = this.#options.parking;
    // It has expired at once, even before the job has marked it.
    if (run.state === "parked" && run.createdAt.getTime() <= Date.now() - parkedDays * DAY_MS)
      return this.#end(report, { kind: "failed", error: expiredRun(parkedDays) });
    return isOver(run) ? toAnswer(report, { kind: "over", run }) : this.#resume(run, report, context);
  }

  /** Cancels a parked run. */
  async abandonRun(scope: Scope, runId: string, caller: RunCaller): Promise<RunAnswer> {
    const run = await this.#findRun(scope, runId, caller);
    const runnable = await this.programs.ofRun(run);
    const report = { run, runnable, started: performance.now() };
    return isOver(run) ? toAnswer(report, { kind: "over", run }) : this.#end(report, { kind: "cancelled" });
  }

  async #resume(run: StoredRun & Run, report: RunReport, context: RunContext): Promise<RunAnswer> {
    const { runnable } = report;
    const reach = await this.programs.reach(run, runnable);
    const verdict = await this.#approver.decideAgain(run, runnable, { reach, caller: context.caller });
    if (verdict.kind === "denied") return this.#end(report, { kind: "failed", error: verdict.error });
    if (verdict.kind === "waiting") return this.#waitOn(run, report, verdict.approval);
    await this.#claim(run);
    const recorded = openEntries(run, await readJournal(this.#options.db, run.scope, run.id));
    const { plan } = verdict;
    return this.#start(
      { ...context, run: { ...run, approvedTools: plan.grants }, runnable, plan, recorded, depth: 0, planKey: "" },
      report,
    );
  }

  /** Keeps a parked run waiting; it may have asked anew, because its plan is another one by now. */
  async #waitOn(run: StoredRun & Run, report: RunReport, approval: Approval): Promise<RunAnswer> {
    if (approval.id !== run.approvalId && !(await pointAtApproval(this.#options.db, run, approval.id)))
      throw inProgress(run);
    return toAnswer(report, { kind: "waiting", approval });
  }

  /** Claims the run, so that only one process resumes it. */
  async #claim(run: StoredRun): Promise<void> {
    const { owner } = this.runner;
    const lease = { owner, seconds: LEASE_SECONDS };
    const isOurs = run.state === "parked" ? await claimParkedRun(this.#options.db, run, lease) : run.owner === owner;
    if (!isOurs) throw inProgress(run);
  }

  #start(progress: RunInProgress, report: RunReport): Promise<RunAnswer> {
    const { id } = progress.run;
    const answer = this.#runToAnswer(progress, report).finally(() => this.#active.delete(id));
    this.#active.set(id, answer);
    return answer;
  }

  async #runToAnswer(progress: RunInProgress, report: RunReport): Promise<RunAnswer> {
    const { run, runnable, plan } = progress;
    const remembered = await this.runner.findCachedResult(progress);
    if (remembered?.ok === true) {
      const ended = { kind: "returned", value: remembered.value } as const;
      return toAnswer(await this.#name(report, progress.caller), { kind: "ended", ended });
    }
    const { session, result, nested } = await this.runner.run(progress);
    const { logs, warnings } = result;
    const { journal } = session;
    const full = result.ended.kind === "parked" ? await this.#findParkingProblem(run) : undefined;
    const ended = full === undefined ? result.ended : ({ kind: "failed", error: full } as const);
    if (ended.kind === "parked") return this.#park(progress, report, { journal, reason: ended.reason });
    const { permissions } = plan;
    const { entries } = journal;
    const succeeded =
      ended.kind === "returned" ? { run, runnable, entries, value: ended.value, permissions } : undefined;
    const settled = succeeded && (await this.#generaliser.settle(succeeded));
    const end = { run, runnable, journal, logs, ended, nested, permissions, settled, started: report.started };
    const trace = await this.runner.remember(end);
    await this.runner.cacheResult(progress, result);
    if (succeeded === undefined) return toAnswer({ ...report, trace, logs, warnings }, { kind: "ended", ended });
    if (settled !== undefined) await this.#generaliser.clean(succeeded, settled);
    const named = await this.#name(settled === undefined ? report : belongTo(report, settled), progress.caller);
    return toAnswer({ ...named, trace, logs, warnings }, { kind: "ended", ended });
  }

  /** Names a program that succeeded. If the name was taken meanwhile, the result stands and a notice says so. */
  async #name(report: RunReport, caller: RunCaller): Promise<RunReport> {
    const { run, runnable } = report;
    const { capability } = runnable;
    const { naming } = run.options;
    if (naming === undefined || runnable.warnings.length > 0 || !isUnnamed(capability.displayName)) return report;
    const program = {
      asker: { scope: run.scope, principal: run.principal, client: run.client, admin: caller.admin },
      id: capability.id,
      naming,
      via: "agent",
      fresh: capability.state === "draft",
    } as const;
    const notices = [...runnable.notices];
    try {
      const { record } = await this.#options.registry.nameProgram(program);
      const { id, version, displayName, fqdn } = record;
      return { ...report, runnable: { ...runnable, capability: { ...capability, id, version, displayName, fqdn } } };
    } catch (error) {
      if (!(error instanceof PmlError)) throw error;
      notices.push(`${error.message}; the program is kept as ${capability.displayName}`);
      return { ...report, runnable: { ...runnable, notices } };
    }
  }

  /** Parks a run and requests an approval; a decision through the client resumes it at once. */
  async #park(
    { run, runnable, caller, signal }: RunInProgress,
    report: RunReport,
    { journal, reason }: { journal: Journal; reason: Parameters<Approver["requestFor"]>[2]["reason"] },
  ): Promise<RunAnswer> {
    const { db } = this.#options;
    const approval = await this.#approver.requestFor(run, runnable, { reason, caller });
    const entries = sealEntries(run, await journal.close());
    await parkRun(db, sealRun(run), { entries, approvalId: approval?.id });
    if (approval === undefined) return toAnswer({ ...report, entries: journal.entries }, { kind: "layer" });
    if (approval.state !== "pending")
      return this.#resume(await this.#findRun(run.scope, run.id, caller), report, { caller, signal });
    return toAnswer({ ...report, entries: journal.entries }, { kind: "waiting", approval });
  }

  /** Says why no more runs of this principal may wait; undefined if they may. */
  async #findParkingProblem({ scope, principal }: Run): Promise<RunError | undefined> {
    const { maxParked } = this.#options.parking;
    if ((await countParkedRuns(this.#options.db, scope, principal)) < maxParked) return undefined;
    return {
      code: "limit_exceeded",
      message: `${maxParked} runs wait already, and no more may`,
      hint: "Go on with one of them, or end it with approved: false. A person can raise the limit: runs.maxParked",
    };
  }

  /** Ends a parked run without resuming it. */
  async #end(report: RunReport, ended: EndedRun["ended"]): Promise<RunAnswer> {
    const { run, runnable, started } = report;
    const { db, keeper } = this.#options;
    const recorded = openEntries(run, await readJournal(db, run.scope, run.id));
    const journal = new Journal((entries) => keeper.note(run, entries), recorded);
    const trace = await this.runner.remember({ run, runnable, journal, ended, logs: [], nested: new Map(), started });
    return toAnswer({ ...report, trace }, { kind: "ended", ended });
  }

  /** Lists the calls a program would make and their permissions. Calls and stores nothing. */
  async #dryRun(report: RunReport, { signal }: RunContext): Promise<RunAnswer> {
    const { run, runnable } = report;
    const { db, sandbox, limits, tools } = this.#options;
    const { verdict } = await this.#approver.judge(run, runnable, await this.programs.reach(run, runnable));
    const decisions = new Map(verdict.tools.map(({ tool, decision }) => [tool, decision]));
    const stop = new AbortController();
    const recent = await listRuns(db, run.scope, {
      recordId: run.recordId,
      principal: run.principal,
      states: ["succeeded"],
      limit: JOURNALS_FOR_DRY_RUNS,
    });
    const host = new DryRun({
      tools,
      journals: await Promise.all(recent.map(({ id }) => readJournal(db, run.scope, id))),
      decide: async (tool) => decisions.get(tool) ?? this.#approver.decideTool(tool),
      stop: () => stop.abort(),
    });
    const both = AbortSignal.any([signal, stop.signal]);
    const { ended } = await runBody({ run, runnable, sandbox, limits, depth: 0 }, host, both);
    const reached = new Set(host.plan.map(({ nodeId }) => nodeId));
    const possible = runnable.structure.nodes.flatMap((node) =>
      node.type === "task" && !reached.has(node.id) ? [node.tool] : [],
    );
    const outcome = ended.kind === "cancelled" ? undefined : ended;
    return toAnswer(report, { kind: "dry_run", plan: host.plan, possible: [...new Set(possible)], outcome });
  }

  #find(asker: Asker, request: RunRequest): Promise<Runnable> {
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

  /** Reports another principal's run as missing. */
  async #findRun(scope: Scope, runId: string, { principal }: RunCaller): Promise<StoredRun & Run> {
    const run = await findRun(this.#options.db, scope, runId);
    if (run === undefined || run.principal !== principal)
      throw new PmlError("run_not_found", `No run has the id ${runId}`, { hint: "`pml runs` lists them." });
    return openRun(run, new RunSecrets(this.#options.secrets));
  }

  #newRun(
    scope: Scope,
    runnable: Runnable,
    { request, args, caller }: { request: RunRequest; args: JsonObject; caller: RunCaller },
  ): Run {
    const { dryRun: _notKept, ...rest } = request.options;
    const naming = request.kind === "capability" ? undefined : request.naming;
    const text = submittedText(runnable);
    const options = {
      ...rest,
      ...(naming === undefined ? {} : { naming }),
      ...(text === undefined ? {} : { text: JSON.stringify(text) }),
    };
    const secrets = new RunSecrets(this.#options.secrets);
    secrets.learn(args, runnable.capability.parameters);
    if (runnable.hidden !== undefined) secrets.learnProgram(runnable.hidden);
    return {
      ...identify(runnable),
      id: newId(),
      scope,
      intent: secrets.hide(request.intent),
      args: toExactJson(args),
      seed: Math.floor(Math.random() * 2 ** 32),
      startedMs: Date.now(),
      principal: caller.principal,
      client: caller.client,
      parent: undefined,
      options,
      approvedTools: [],
      secrets,
    };
  }
}

/** Refuses arguments that a capability does not have; a program that comes with them gets a warning. */
function checkRequest(found: Runnable, { kind, args: given }: RunRequest): { runnable: Runnable; args: JsonObject } {
  if (kind === "capability" || kind === "tool") return { runnable: found, args: checkArguments(found, given) };
  const { args, notices } = checkOwnArguments(found, given);
  return { runnable: { ...found, notices: [...found.notices, ...notices] }, args };
}

/** Names the capability that the run belongs to; its program is kept without the secrets that the warnings are about. */
function belongTo(report: RunReport, { capability }: SettledRun): RunReport {
  return { ...report, learned: capability.parameters, runnable: { ...report.runnable, capability, warnings: [] } };
}

/** The submitted text, its secrets hidden, where the stored capability has another one, or may get one: a draft. */
function submittedText({ capability: { source, state }, hidden }: Runnable): string | undefined {
  if (source.type !== "code" || typeof hidden?.source !== "string") return undefined;
  return state === "draft" || hidden.source !== source.code ? hidden.source : undefined;
}

/** Rejects numbers that JSON cannot carry: the person would be shown another value than the program gets. */
function toExactJson(args: JsonObject): JsonObject {
  const text = JSON.stringify(args, (name, value: unknown) => {
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    throw new PmlError("arguments_invalid", `The argument ${JSON.stringify(name)} is not a finite number`, {
      hint: "JSON has no numbers beyond 1.8e308; pass such a value as text.",
    });
  });
  return JSON.parse(text) as JsonObject;
}

function inProgress({ id }: StoredRun): PmlError {
  return new PmlError("run_in_progress", `The run ${id} is in progress`, {
    hint: "Ask again in a moment to get its outcome.",
  });
}

function toAsker(scope: Scope, { principal, admin, client }: RunCaller): Asker {
  return { scope, principal, admin, client };
}
