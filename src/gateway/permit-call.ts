import type { CatalogueTool } from "../catalogue/catalogue.ts";
import { parseToolId } from "../catalogue/tool-id.ts";
import { v7 as newId } from "uuid";
import type { Scope } from "../registry/scope.ts";
import { contentHash } from "../base/content-hash.ts";
import { PmlError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Approval } from "../permissions/approval.ts";
import { askByForm } from "../permissions/elicitation.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { BoundPlan, ToolVerdict } from "../permissions/plan.ts";
import type { RunCaller } from "../execution/ports.ts";

/** A call that an agent makes itself, without a program around it. */
interface DirectCall {
  readonly tool: Pick<CatalogueTool, "id" | "contentHash" | "annotations">;
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
  const askPerson = async (call: DirectCall, verdict: ToolVerdict): Promise<void> => {
    const open = await findUndecided(permissions, scope, { call, verdict });
    if (open !== undefined) throw waiting(open, call.tool.id, approvalUrl(open.id));
  };
  return async (call) => {
    const verdict = await decideCall(permissions, scope, call);
    if (verdict.source.kind === "default" && permissions.directCalls === "written") return;
    if (verdict.decision === "allow") return;
    if (verdict.decision === "deny") throw denied(verdict);
    if (!call.wasAsked) await askPerson(call, verdict);
  };
}

/** Decides the call as a program of its own, which a person may have allowed for good. */
async function decideCall(
  permissions: Permissions,
  scope: Scope,
  { tool, caller: { principal } }: DirectCall,
): Promise<ToolVerdict> {
  const planned = { id: tool.id, schemaHash: tool.contentHash, annotations: tool.annotations };
  const verdict = permissions.decideTool(planned);
  if (!verdict.rememberable || permissions.directCalls === "written") return verdict;
  const context = { principal, codeHash: codeHashOf(tool.id) };
  return (await permissions.decidePlan(scope, [planned], context)).tools[0] ?? verdict;
}

function codeHashOf(tool: string): string {
  return contentHash({ directCall: tool });
}

/** Asks, and resolves when the call may be made; with the approval where nobody has decided yet. */
async function findUndecided(
  permissions: Permissions,
  scope: Scope,
  { call, verdict }: { readonly call: DirectCall; readonly verdict: ToolVerdict },
): Promise<Approval | undefined> {
  const { args, caller } = call;
  const { principal, client, form } = caller;
  const tool = call.tool.id;
  const runId = newId();
  const plan: BoundPlan = {
    principal,
    codeHash: codeHashOf(tool),
    input: args,
    verdict: { decision: "ask", tools: [verdict], reasons: [`${tool}: ${verdict.reason}`] },
  };
  const use = await permissions.useApproval(scope, plan);
  if (use.kind === "used") return undefined;
  if (use.kind === "refused") throw refused(use.approval);
  const { server, tool: name } = parseToolId(tool);
  const code = `return await mcp[${JSON.stringify(server)}][${JSON.stringify(name)}](args);`;
  const intent = `call ${tool} directly`;
  const approval =
    use.kind === "pending"
      ? use.approval
      : await permissions.requestApproval(scope, { ...plan, runId, intent, code, client });
  const reply = await askByForm(form, approval, { runId, by: principal });
  if (reply === undefined) return approval;
  const { approval: decided } = await permissions.decideApproval(scope, approval.id, reply);
  if (decided.state !== "approved") throw refused(decided);
  await permissions.useApproval(scope, plan);
  return undefined;
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
