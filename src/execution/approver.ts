import type { Catalogue } from "../catalogue/catalogue.ts";
import type { JsonObject } from "../base/json.ts";
import { PmlError } from "../base/errors.ts";
import type { Approval } from "../permissions/approval.ts";
import { bindArgs, type BindingSubject, type BoundProgram, bindText, hashBinding } from "../permissions/binding.ts";
import type { Effect, PermissionSet } from "../permissions/effect.ts";
import { askByForm } from "../permissions/elicitation.ts";
import { toPermissionSet } from "../permissions/permission-set-store.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { Decision, JudgedPlan, PlannedTool, PlanVerdict, ToolVerdict } from "../permissions/plan.ts";
import { unnamed } from "../registry/fqdn.ts";
import type { CallEntry } from "./journal.ts";
import type { RunCaller } from "./ports.ts";
import { isProvisional, type NestedUse, type Reach, type Runnable } from "./programs.ts";
import type { GuardVerdict, NestedCall, ParkReason } from "./run-calls.ts";
import type { RunError } from "../contract/execute.ts";
import type { Run, StoredRun } from "./run-store.ts";

/** Everything a run was started under: the binding, the tools it may call, and the capabilities its names stand for. */
export interface ApprovedPlan {
  readonly judged: JudgedPlan;
  /** The hash of the binding, by which the run goes on without a new question when it resumes. */
  readonly grants: readonly string[];
  /** True if every tool only reads. */
  readonly onlyReads: boolean;
  /** The grants for people: tools, effects, and what allowed each. */
  readonly permissions: PermissionSet;
  check(tool: string, args: JsonObject): Promise<GuardVerdict>;
  /** The capability bound to a name of the program (key "") or of a nested capability. */
  findNested(caller: string, name: string): NestedUse | undefined;
}

export type PlanDecision =
  | { readonly kind: "approved"; readonly plan: ApprovedPlan }
  | { readonly kind: "denied"; readonly error: RunError }
  | { readonly kind: "waiting"; readonly approval: Approval };

type NestedDecision = Exclude<PlanDecision, { kind: "waiting" }> | Extract<ParkReason, { kind: "asked" }>;

interface DecisionInput {
  readonly reach: Reach;
  readonly caller: RunCaller;
}

/** Decides plans by the rules and, if those ask, by a person. */
export class Approver {
  readonly #permissions: Permissions;
  readonly #tools: Catalogue;

  constructor(permissions: Permissions, tools: Catalogue) {
    this.#permissions = permissions;
    this.#tools = tools;
  }

  async decide(run: Run, runnable: Runnable, { reach, caller }: DecisionInput): Promise<PlanDecision> {
    const judged = await this.judge(run, runnable, reach);
    const { binding, verdict } = judged;
    if (verdict.decision === "deny") return { kind: "denied", error: deniedError(verdict) };
    if (verdict.decision === "allow" || isCovered(judged, run)) return this.#approved(run, judged, reach);
    const use = await this.#permissions.useApproval(binding);
    if (use.kind === "used") return this.#approved(run, judged, reach);
    if (use.kind === "refused") return { kind: "denied", error: refusedError(use.approval) };
    const approval = use.kind === "pending" ? use.approval : await this.#request(run, runnable, judged);
    const answered = await this.#askNow(run, approval, caller);
    if (answered?.state === "refused") return { kind: "denied", error: refusedError(answered) };
    if (answered?.state !== "approved") return { kind: "waiting", approval };
    const own = await this.#permissions.useApproval(binding);
    if (own.kind === "used") return this.#approved(run, judged, reach);
    // Another run of the same plan took it, so this one asks for itself.
    return { kind: "waiting", approval: await this.#request(run, runnable, judged) };
  }

  /** Decides for a parked run, whose approval may be decided and whose rules and capabilities may have changed since. */
  async decideAgain(run: StoredRun & Run, runnable: Runnable, asked: DecisionInput): Promise<PlanDecision> {
    const approval =
      run.approvalId === undefined ? undefined : await this.#permissions.findApproval(run.scope, run.approvalId);
    if (approval?.state === "expired") return { kind: "denied", error: expiredError(approval) };
    if (approval?.state === "pending" && (await this.#isStillAsked(run, runnable, { approval, reach: asked.reach }))) {
      const answered = await this.#askNow(run, approval, asked.caller);
      if (answered === undefined || answered.state === "pending") return { kind: "waiting", approval };
    }
    return this.decide(run, runnable, asked);
  }

  /** Decides about a capability that the plan does not bind, for one call of it. */
  async decideNested(
    run: Run,
    runnable: Runnable,
    { reach, call }: { readonly reach: Reach; readonly call: NestedCall },
  ): Promise<NestedDecision> {
    const subject = {
      ...toSubject(run, runnable, reach),
      args: bindArgs(call.args),
      call: { runId: run.id, tool: call.name },
    };
    const judged = withoutMemory(await this.#permissions.decidePlan(subject, this.#planned([...reach.tools])));
    if (judged.verdict.decision === "deny") return { kind: "denied", error: deniedError(judged.verdict) };
    if (judged.verdict.decision === "allow") return this.#approved(run, judged, reach);
    const use = await this.#permissions.useApproval(judged.binding);
    if (use.kind === "used") return this.#approved(run, judged, reach);
    if (use.kind === "refused") return { kind: "denied", error: refusedError(use.approval) };
    return { kind: "asked", asked: judged };
  }

  /** Requests the approval a parked run needs to continue; returns undefined between layers. */
  async requestFor(
    run: Run,
    runnable: Runnable,
    { reason, caller }: { readonly reason: ParkReason; readonly caller: RunCaller },
  ): Promise<Approval | undefined> {
    if (reason.kind === "layer") return undefined;
    const approval = await this.#request(run, runnable, reason.asked);
    return (await this.#askNow(run, approval, caller)) ?? approval;
  }

  /** Reads what a person said about a call whose outcome is unknown; the question, if nobody has. */
  async resolveAmbiguous(plan: ApprovedPlan, run: Run, call: CallEntry): Promise<"repeat" | "give_up" | JudgedPlan> {
    const tool = call.target.kind === "tool" ? call.target.tool : "";
    const { seq } = call;
    const args = (call.args ?? {}) as JsonObject;
    const judged = await this.#judgeCall(plan.judged, { runId: run.id, tool, args, seq });
    const reason = `The run was interrupted during this call of ${tool}. Whether it happened is not known: approve to make it again, refuse to let the program continue with an error.`;
    const tools = judged.verdict.tools.map((each): ToolVerdict => ({ ...each, decision: "ask" }));
    const use = await this.#permissions.useApproval(judged.binding);
    if (use.kind === "used") return "repeat";
    if (use.kind === "refused") return "give_up";
    return { ...judged, verdict: { decision: "ask", tools, reasons: [reason] } };
  }

  /** Decides one tool by the rules, without asking anyone. */
  decideTool(id: string): Decision {
    const [planned] = this.#planned([id]);
    return planned === undefined ? "deny" : this.#permissions.decideTool(planned).decision;
  }

  /** Decides a plan by the rules, without asking anyone. */
  judge(run: Run, runnable: Runnable, reach: Reach): Promise<JudgedPlan> {
    const subject = { ...toSubject(run, runnable, reach), args: bindArgs(run.args) };
    return this.#permissions.decidePlan(subject, this.#planned([...reach.tools]));
  }

  /** A question before the start falls when the plan is another one by now; one about a call is asked by its run. */
  async #isStillAsked(
    run: Run,
    runnable: Runnable,
    { approval: { binding }, reach }: { readonly approval: Approval; readonly reach: Reach },
  ): Promise<boolean> {
    if (binding.call !== undefined) return true;
    return hashBinding((await this.judge(run, runnable, reach)).binding) === hashBinding(binding);
  }

  /** Skips unknown tools: they cannot be called, so there is nothing to decide. */
  #planned(tools: readonly string[]): PlannedTool[] {
    return tools.flatMap((id) => {
      const tool = this.#tools.findById(id);
      return tool === undefined ? [] : [{ id, schemaHash: tool.contentHash, annotations: tool.annotations }];
    });
  }

  #approved(run: Run, judged: JudgedPlan, reach: Reach): Extract<PlanDecision, { kind: "approved" }> {
    const { binding, verdict } = judged;
    const effects = new Map(verdict.tools.map(({ tool, schemaHash, effect }) => [`${tool} ${schemaHash}`, effect]));
    const uses = new Map(reach.nested.map((use) => [nestedKey(use.caller, use.name), use]));
    const check = async (id: string, args: JsonObject): Promise<GuardVerdict> => {
      const effect = effects.get(`${id} ${this.#tools.findById(id)?.contentHash ?? ""}`);
      return effect === undefined ? this.#checkOutsidePlan(judged, { runId: run.id, tool: id, args }) : allowed(effect);
    };
    return {
      kind: "approved",
      plan: {
        judged,
        grants: [hashBinding(binding)],
        onlyReads: verdict.tools.every(({ effect }) => effect === "read"),
        permissions: toPermissionSet(verdict.tools),
        check,
        findNested: (caller, name) => uses.get(nestedKey(caller, name)),
      },
    };
  }

  /** Decides a call that static analysis did not find; an approval is for these arguments, once. */
  async #checkOutsidePlan(plan: JudgedPlan, call: OneCall): Promise<GuardVerdict> {
    const judged = await this.#judgeCall(plan, call);
    const [single] = judged.verdict.tools;
    if (single === undefined) return { kind: "denied", reason: "its server no longer offers it" };
    if (single.decision === "allow") return allowed(single.effect);
    if (single.decision === "deny") return { kind: "denied", reason: single.reason };
    const use = await this.#permissions.useApproval(judged.binding);
    if (use.kind === "used") return allowed(single.effect);
    if (use.kind === "refused") return { kind: "denied", reason: refusedError(use.approval).message };
    return { kind: "ask", asked: judged };
  }

  async #judgeCall({ binding }: JudgedPlan, { args, ...call }: OneCall): Promise<JudgedPlan> {
    const { tools: _planned, ...subject } = { ...binding, args: bindArgs(args), call, dynamicCalls: [] };
    return withoutMemory(await this.#permissions.decidePlan(subject, this.#planned([call.tool])));
  }

  #request(run: Run, runnable: Runnable, judged: JudgedPlan): Promise<Approval> {
    const { call } = judged.binding;
    return this.#permissions.requestApproval({
      ...judged,
      runId: run.id,
      intent: run.intent,
      client: run.client,
      schema: call === undefined ? runnable.parameters : this.#tools.findById(call.tool)?.inputSchema,
      capability: run.options.naming?.name ?? labelOf(runnable),
    });
  }

  /** Asks through the client; undefined if it cannot ask or the person gave no answer. */
  async #askNow(run: Run, approval: Approval, caller: RunCaller): Promise<Approval | undefined> {
    const decision = await askByForm(caller.form, approval, { runId: run.id, by: caller.principal });
    if (decision === undefined) return undefined;
    try {
      return (await this.#permissions.decideApproval(run.scope, approval.id, decision)).approval;
    } catch (error) {
      // Decided elsewhere while the form was open: that decision counts.
      if (error instanceof PmlError && error.code === "approval_decided")
        return this.#permissions.findApproval(run.scope, approval.id);
      throw error;
    }
  }
}

/** A program that is not known to be the capability is not presented under its name. */
function labelOf(runnable: Runnable): string {
  const { body, capability } = runnable;
  if (body.kind !== "code" || !isProvisional(runnable)) return capability.displayName;
  return unnamed(body.program.hash, body.program.tools).displayName;
}

/** One call in question; `seq` where it was begun and its outcome is unknown. */
interface OneCall {
  readonly runId: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly seq?: number;
}

/** The program of a plan, with everything its names stand for. */
function toSubject(run: Run, { text, body }: Runnable, { nested, missing }: Reach): Omit<BindingSubject, "args"> {
  const nodes = body.kind === "code" ? body.program.structure.nodes : [];
  return {
    scope: run.scope,
    principal: run.principal,
    program: bindProgram({ text, body }),
    nested: nested.map(({ caller, name, runnable }) => ({
      caller,
      name,
      id: runnable.capability.id,
      version: runnable.capability.version,
      ...bindProgram(runnable),
    })),
    missing,
    dynamicCalls: nodes.flatMap((node) => (node.type === "dynamic" ? [bindText(node.expression)] : [])),
  };
}

function bindProgram({ text, body }: Pick<Runnable, "text" | "body">): BoundProgram {
  const literals = body.kind === "code" ? { literals: body.program.literals } : {};
  return { kind: body.kind, ...bindText(text), ...literals };
}

/** One call is allowed once: a rule for it would fit no other run. */
function withoutMemory({ binding, verdict }: JudgedPlan): JudgedPlan {
  const tools = verdict.tools.map((each): ToolVerdict => ({ ...each, rememberable: false }));
  return { binding, verdict: { ...verdict, tools } };
}

function nestedKey(caller: string, name: string): string {
  return JSON.stringify([caller, name]);
}

function allowed(effect: Effect): GuardVerdict {
  return { kind: "allowed", effect };
}

/** A run goes on without a new question under the binding it was started with, and under no other. */
function isCovered({ binding }: JudgedPlan, run: Run): boolean {
  return run.approvedTools.includes(hashBinding(binding));
}

function deniedError({ tools, reasons }: PlanVerdict): RunError {
  const denied = tools.filter(({ decision }) => decision === "deny");
  const why = denied.map(({ tool, reason }) => `${tool}: ${reason}`);
  return {
    code: "permission_denied",
    message: `The program is not permitted to run. ${(why.length > 0 ? why : reasons).join("; ")}`,
    hint: "A person can change the rules in mcp-permissions.yaml or under permissions in the configuration.",
  };
}

function refusedError({ id, reason }: Approval): RunError {
  return {
    code: "approval_refused",
    message: `A person refused this (${id})${reason === undefined ? "" : `: ${reason}`}`,
    hint: "Change the program, or ask the person what would be acceptable.",
  };
}

function expiredError({ id, expiresAt }: Approval): RunError {
  return {
    code: "approval_expired",
    message: `Nobody decided on ${id} before ${expiresAt.toISOString()}. That is not a refusal.`,
    hint: "Run the program again to ask anew.",
  };
}
