import type { Catalogue } from "../catalogue/catalogue.ts";
import { getCapabilityCode } from "../registry/capability.ts";
import type { Approval } from "../permissions/approval.ts";
import type { Effect, PermissionSet } from "../permissions/effect.ts";
import { askByForm } from "../permissions/elicitation.ts";
import { toPermissionSet } from "../permissions/permission-set-store.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { BoundPlan, Decision, PlannedTool, PlanVerdict, ToolVerdict } from "../permissions/plan.ts";
import type { CallEntry } from "./journal.ts";
import type { RunCaller } from "./ports.ts";
import type { Runnable } from "./programs.ts";
import type { GuardVerdict, ParkReason } from "./run-calls.ts";
import type { RunError } from "../contract/execute.ts";
import type { Run, StoredRun } from "./run-store.ts";

/** The tools a run may call, with the definitions they had when it was approved. */
export interface ApprovedPlan {
  /** Grants: the program, and each tool with the hash of its definition. */
  readonly tools: readonly string[];
  /** True if every tool only reads. */
  readonly onlyReads: boolean;
  /** The grants for people: tools, effects, and what allowed each. */
  readonly permissions: PermissionSet;
  check(tool: string): Promise<GuardVerdict>;
}

export type PlanDecision =
  | { readonly kind: "approved"; readonly plan: ApprovedPlan }
  | { readonly kind: "denied"; readonly error: RunError }
  | { readonly kind: "waiting"; readonly approval: Approval };

interface DecisionInput {
  readonly tools: ReadonlySet<string>;
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

  async decide(run: Run, runnable: Runnable, { tools, caller }: DecisionInput): Promise<PlanDecision> {
    const verdict = await this.judge(run, runnable, tools);
    if (verdict.decision === "deny") return { kind: "denied", error: deniedError(verdict) };
    if (verdict.decision === "allow" || isCovered(verdict, run)) return this.#approved(run, verdict);
    const plan: BoundPlan = {
      principal: run.principal,
      codeHash: run.sourceHash,
      input: run.secrets.hide(run.args),
      verdict,
    };
    const use = await this.#permissions.useApproval(run.scope, plan);
    if (use.kind === "used") return this.#approved(run, verdict);
    if (use.kind === "refused") return { kind: "denied", error: refusedError(use.approval) };
    const approval = use.kind === "pending" ? use.approval : await this.#request(run, runnable, plan);
    const answered = await this.#askNow(run, approval, caller);
    if (answered?.state === "refused") return { kind: "denied", error: refusedError(answered) };
    if (answered?.state !== "approved") return { kind: "waiting", approval };
    await this.#permissions.useApproval(run.scope, plan);
    return this.#approved(run, verdict);
  }

  /** Decides for a parked run, whose approval may be decided and whose rules may have changed since. */
  async decideAgain(run: StoredRun & Run, runnable: Runnable, asked: DecisionInput): Promise<PlanDecision> {
    const approval =
      run.approvalId === undefined ? undefined : await this.#permissions.findApproval(run.scope, run.approvalId);
    if (approval?.state === "expired") return { kind: "denied", error: expiredError(approval) };
    if (approval?.state === "pending") {
      const answered = await this.#askNow(run, approval, asked.caller);
      if (answered === undefined || answered.state === "pending") return { kind: "waiting", approval };
    }
    return this.decide(run, runnable, asked);
  }

  /** Requests the approval a parked run needs to continue; returns undefined between layers. */
  async requestFor(
    run: Run,
    runnable: Runnable,
    { reason, caller }: { readonly reason: ParkReason; readonly caller: RunCaller },
  ): Promise<Approval | undefined> {
    if (reason.kind === "layer") return undefined;
    const plan =
      reason.kind === "tool"
        ? await this.#planForTool(run, reason.tool)
        : await this.#planForDoubt(reason.run, reason.call);
    const approval = await this.#request(run, runnable, plan);
    return (await this.#askNow(run, approval, caller)) ?? approval;
  }

  async resolveAmbiguous(run: Run, call: CallEntry): Promise<"repeat" | "give_up" | undefined> {
    const use = await this.#permissions.useApproval(run.scope, await this.#planForDoubt(run, call));
    return use.kind === "used" ? "repeat" : use.kind === "refused" ? "give_up" : undefined;
  }

  /** Decides one tool by the rules, without asking anyone. */
  async decideTool(run: Run, tool: string): Promise<Decision> {
    return (await this.#planForTool(run, tool)).verdict.decision;
  }

  /** Decides a plan by the rules, without asking anyone. */
  judge(run: Run, { body }: Runnable, tools: ReadonlySet<string>): Promise<PlanVerdict> {
    const dynamicCalls =
      body.kind === "code"
        ? body.program.structure.nodes.flatMap((node) => (node.type === "dynamic" ? [node.expression] : []))
        : [];
    const context = { principal: run.principal, codeHash: run.sourceHash, dynamicCalls };
    return this.#permissions.decidePlan(run.scope, this.#planned([...tools]), context);
  }

  /** Skips unknown tools: they cannot be called, so there is nothing to decide. */
  #planned(tools: readonly string[]): PlannedTool[] {
    return tools.flatMap((id) => {
      const tool = this.#tools.findById(id);
      return tool === undefined ? [] : [{ id, schemaHash: tool.contentHash, annotations: tool.annotations }];
    });
  }

  #approved(run: Run, verdict: PlanVerdict): PlanDecision {
    const effects = new Map(verdict.tools.map((each) => [grantOf(each), each.effect]));
    const check = async (id: string): Promise<GuardVerdict> => {
      const tool = this.#tools.findById(id);
      const grant = `${id} ${tool?.contentHash ?? ""}`;
      const effect = effects.get(grant);
      if (effect !== undefined) return { kind: "allowed", effect };
      const checked = await this.#checkOutsidePlan(run, id);
      if (checked.kind === "allowed") effects.set(grant, checked.effect);
      return checked;
    };
    const onlyReads = verdict.tools.every(({ effect }) => effect === "read");
    const permissions = toPermissionSet(verdict.tools);
    return { kind: "approved", plan: { tools: [planGrant(run), ...effects.keys()], onlyReads, permissions, check } };
  }

  /** Decides a call that static analysis did not find. */
  async #checkOutsidePlan(run: Run, tool: string): Promise<GuardVerdict> {
    const plan = await this.#planForTool(run, tool);
    const [single] = plan.verdict.tools;
    if (single === undefined) return { kind: "denied", reason: "its server no longer offers it" };
    if (single.decision === "allow") return allowed(single.effect);
    if (single.decision === "deny") return { kind: "denied", reason: single.reason };
    const use = await this.#permissions.useApproval(run.scope, plan);
    if (use.kind === "used") return allowed(single.effect);
    return use.kind === "refused" ? { kind: "denied", reason: refusedError(use.approval).message } : { kind: "ask" };
  }

  async #planForTool(run: Run, tool: string): Promise<BoundPlan> {
    const { principal, sourceHash: codeHash } = run;
    const verdict = await this.#permissions.decidePlan(run.scope, this.#planned([tool]), { principal, codeHash });
    return { principal, codeHash, input: { run: run.id, tool }, verdict };
  }

  async #planForDoubt(run: Run, call: CallEntry): Promise<BoundPlan> {
    const tool = call.target.kind === "tool" ? call.target.tool : "";
    const { verdict, ...plan } = await this.#planForTool(run, tool);
    const reason = `The run was interrupted during this call of ${tool}. Whether it happened is not known: approve to make it again, refuse to let the program continue with an error.`;
    const tools = verdict.tools.map((each): ToolVerdict => ({ ...each, decision: "ask", rememberable: false }));
    return {
      ...plan,
      input: { run: run.id, call: call.seq, tool, args: run.secrets.hide(call.args) },
      verdict: { decision: "ask", tools, reasons: [reason] },
    };
  }

  #request(run: Run, { capability, body }: Runnable, plan: BoundPlan): Promise<Approval> {
    const code = getCapabilityCode(capability) ?? JSON.stringify(capability.source, null, 2);
    return this.#permissions.requestApproval(run.scope, {
      ...plan,
      runId: run.id,
      intent: run.intent,
      code: body.kind === "code" ? code : `// ${body.kind}\n${code}`,
      client: run.client,
      capability: run.options.naming?.name ?? capability.displayName,
    });
  }

  /** Asks through the client; undefined if it cannot ask or the person gave no answer. */
  async #askNow(run: Run, approval: Approval, caller: RunCaller): Promise<Approval | undefined> {
    const decision = await askByForm(caller.form, approval, { runId: run.id, by: caller.principal });
    if (decision === undefined) return undefined;
    return (await this.#permissions.decideApproval(run.scope, approval.id, decision)).approval;
  }
}

function grantOf({ tool, schemaHash }: ToolVerdict): string {
  return `${tool} ${schemaHash}`;
}

function allowed(effect: Effect): GuardVerdict {
  return { kind: "allowed", effect };
}

/** Grant for the program as a whole, including its dynamic calls. */
function planGrant({ sourceHash }: Run): string {
  return `program ${sourceHash}`;
}

/** Grants from the start of the run hold as long as the tools do not change. */
function isCovered(verdict: PlanVerdict, run: Run): boolean {
  const grants = new Set(run.approvedTools);
  const asked = verdict.tools.filter(({ decision }) => decision === "ask");
  return grants.has(planGrant(run)) && asked.every((each) => grants.has(grantOf(each)));
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
