import type { CatalogueTool } from "../catalogue/catalogue.ts";
import { v7 as newId } from "uuid";
import type { Scope } from "../registry/scope.ts";
import { canonical } from "../base/canonical.ts";
import { PmlError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Approval } from "../permissions/approval.ts";
import { bindArgs, type BindingSubject, bindText } from "../permissions/binding.ts";
import { askByForm } from "../permissions/elicitation.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { JudgedPlan, ToolVerdict } from "../permissions/plan.ts";
import type { RunCaller } from "../execution/ports.ts";

/** A call that an agent makes itself, without a program around it. */
interface DirectCall {
  readonly tool: Pick<CatalogueTool, "id" | "contentHash" | "annotations" | "inputSchema">;
  readonly args: JsonObject;
  readonly caller: Pick<RunCaller, "principal" | "client" | "form">;
  /** A person was asked about this very call, before its server asked a question of its own. */
  readonly wasAsked: boolean;
}

/** The page where a person decides. */
type ApprovalUrl = (id: string) => string;

/** Resolves when the call may be made; rejects with the error the agent sees. */
export type PermitCall = (call: DirectCall) => Promise<void>;

/**
 * Applies written rules and, unless `permissions.directCalls` is `written`, the tool's effect. Clients on this machine
 * ask their users before they call a tool; those of other people may not.
 */
export function createPermitCall(permissions: Permissions, scope: Scope, approvalUrl: ApprovalUrl): PermitCall {
  return async (call) => {
    const { tool } = call;
    const planned = { id: tool.id, schemaHash: tool.contentHash, annotations: tool.annotations };
    const verdict = permissions.decideTool(planned);
    if (verdict.source.kind === "default" && permissions.directCalls === "written") return;
    if (verdict.decision === "allow") return;
    if (verdict.decision === "deny") throw denied(verdict);
    if (call.wasAsked) return;
    // A person may have allowed it for good.
    const judged = await permissions.decidePlan(toSubject(scope, call), [planned]);
    if (judged.verdict.decision === "allow") return;
    const open = await findUndecided(permissions, judged, call);
    if (open !== undefined) throw waiting(open, tool.id, approvalUrl(open.id));
  };
}

/** The call as a program of its own. */
function toSubject(scope: Scope, { tool, args, caller }: DirectCall): BindingSubject {
  return {
    scope,
    principal: caller.principal,
    program: { kind: "call", ...bindText(canonical({ tool: tool.id })) },
    nested: [],
    missing: [],
    dynamicCalls: [],
    // The server gets JSON, so numbers that it cannot carry are bound and shown as the null that they become.
    args: bindArgs(JSON.parse(JSON.stringify(args)) as JsonObject),
  };
}

/** Asks, and resolves when the call may be made; with the approval where nobody has decided yet. */
async function findUndecided(
  permissions: Permissions,
  judged: JudgedPlan,
  { tool, caller }: DirectCall,
): Promise<Approval | undefined> {
  const { principal, client, form } = caller;
  const { binding } = judged;
  const use = await permissions.useApproval(binding);
  if (use.kind === "used") return undefined;
  if (use.kind === "refused") throw refused(use.approval);
  const request = { ...judged, runId: newId(), intent: `call ${tool.id} directly`, client, schema: tool.inputSchema };
  const approval = use.kind === "pending" ? use.approval : await permissions.requestApproval(request);
  const reply = await askByForm(form, approval, { runId: request.runId, by: principal });
  if (reply === undefined) return approval;
  const { approval: decided } = await permissions.decideApproval(binding.scope, approval.id, reply);
  if (decided.state !== "approved") throw refused(decided);
  const own = await permissions.useApproval(binding);
  // Where the same call was made twice, the other one took it.
  return own.kind === "used" ? undefined : permissions.requestApproval(request);
}

function denied({ tool, reason }: ToolVerdict): PmlError {
  return new PmlError("permission_denied", `${tool}: ${reason}`, {
    hint: "A person can change the rules in mcp-permissions.yaml or under permissions in the configuration.",
    details: { tool },
  });
}

function refused({ id, reason }: Approval): PmlError {
  return new PmlError("approval_refused", `A person refused this (${id})${reason === undefined ? "" : `: ${reason}`}`, {
    hint: "Ask the person what would be acceptable.",
    details: { approval: id },
  });
}

function waiting({ id, expiresAt }: Approval, tool: string, url: string): PmlError {
  const until = expiresAt.toISOString();
  return new PmlError("approval_required", `A person has to decide on this call of ${tool} (${id})`, {
    hint: `They decide at ${url}. When they have, make the same call again, before ${until}`,
    details: { approval: { id, url, tools: [tool], expiresAt: until }, tool },
  });
}
