import type { Scope } from "../registry/scope.ts";
import type { Config } from "../config/load-config.ts";
import type { DirectCallsPolicy } from "../config/schema.ts";
import type { DatabaseClient, Tx } from "../db/client.ts";
import { type ErrorReport, PmlError } from "../base/errors.ts";
import type { EventBus } from "../base/events.ts";
import { writeAudit } from "./announce-store.ts";
import type {
  Approval,
  ApprovalDecision,
  ApprovalFilter,
  ApprovalRequest,
  ApprovalUse,
  DecidedApproval,
  RememberedRule,
} from "./approval.ts";
import { dropOldApprovals, findApproval, listApprovals } from "./approval-store.ts";
import { createApprovals } from "./approvals.ts";
import { decidePlan } from "./decide-plan.ts";
import type { Binding, BindingSubject } from "./binding.ts";
import type { JudgedPlan, PlannedTool, ToolVerdict } from "./plan.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Routing } from "../registry/record.ts";
import { brokenRules, readRules } from "./read-rules.ts";
import { countDroppedRules, deleteRule, findFittingRules, listRules } from "./rule-store.ts";
import { decide, findRouting } from "./rule-model.ts";

type PermissionConfig = Pick<Config, "home" | "file" | "permissions" | "approvals" | "scope" | "auth"> &
  Partial<Pick<Config, "projects">>;

/**
 * Permission rules and approvals. A run asks in this order, also when it resumes: `decidePlan`; on "ask"
 * `useApproval`; if that used none, `requestApproval` and wait.
 */
export interface Permissions extends AsyncDisposable {
  /** Applies changed rules. Unreadable rules permit nothing until they are fixed. */
  configure(config: PermissionConfig): void;
  /** Set while the rules are unreadable and nothing is permitted. */
  readonly problem: ErrorReport | undefined;
  /** The policy for calls that agents make themselves. */
  readonly directCalls: DirectCallsPolicy;
  /** Denies everything after a read error that may hide a prohibition. */
  denyAll(error: unknown): void;
  /** Routing of a tool, if a rule sets it. */
  findRouting(toolId: string): Routing | undefined;
  /** Binds the tools to the program, and decides by the rules and by what people left for this binding. */
  decidePlan(subject: BindingSubject, tools: readonly PlannedTool[]): Promise<JudgedPlan>;
  /** Decides a tool by the rules alone, without rules that people left for programs. */
  decideTool(tool: PlannedTool): ToolVerdict;
  /** Returns the pending approval if the same plan already has one. */
  requestApproval(request: ApprovalRequest): Promise<Approval>;
  findApproval(scope: Scope, id: string): Promise<Approval | undefined>;
  /** Lists newest first, unless the filter says otherwise. */
  listApprovals(scope: Scope, filter?: ApprovalFilter): Promise<Approval[]>;
  /** Decides once; throws if the approval was decided, expired or superseded. */
  decideApproval(scope: Scope, id: string, decision: ApprovalDecision): Promise<DecidedApproval>;
  /** Takes an approval of exactly this binding; nothing may run unless the outcome is `used`. */
  useApproval(binding: Binding): Promise<ApprovalUse>;
  /** Resolves once the approval is no longer pending; rejects with the signal's reason. */
  waitForDecision(scope: Scope, id: string, signal: AbortSignal): Promise<Approval>;
  expireApprovals(): Promise<void>;
  /** Deletes approvals that expired this many days ago. */
  dropApprovals(days: number): Promise<void>;
  listRules(scope: Scope): Promise<RememberedRule[]>;
  /** Counts rules of an earlier release that were dropped in the last 30 days; their programs ask again. */
  countDroppedRules(scope: Scope): Promise<number>;
  removeRule(scope: Scope, id: string, by: string): Promise<RememberedRule>;
}

export interface PermissionsOptions {
  readonly client: DatabaseClient;
  readonly events: EventBus;
  readonly config: PermissionConfig;
  /** Without it, the digests of secrets in questions hold for this process. */
  readonly secrets?: Secrets;
  /** How long a waiter relies on notifications before it polls. */
  readonly pollMs?: number;
}

export async function createPermissions(options: PermissionsOptions): Promise<Permissions> {
  const { db } = options.client;
  const { secrets = new Secrets() } = options;
  let { ttlMinutes, maxPending } = options.config.approvals;
  const approvals = await createApprovals({ ...options, secrets, maxPending: () => maxPending });
  let rules = readRules(options.config);
  // A change of `auth` waits for a restart, so until then its absence must not relax anything.
  const byDefault: DirectCallsPolicy = options.config.auth === undefined ? "written" : "effects";
  let { directCalls = byDefault } = options.config.permissions;
  return {
    configure(config) {
      rules = readRules(config);
      ({ directCalls = byDefault } = config.permissions);
      ({ ttlMinutes, maxPending } = config.approvals);
      options.events.publish({ kind: "permissions_changed", ...options.config.scope });
    },
    findRouting: (toolId) => findRouting(rules, toolId),
    get problem() {
      return rules.kind === "broken" ? rules.error : undefined;
    },
    get directCalls() {
      return directCalls;
    },
    denyAll: (error) => void (rules = brokenRules(error)),
    async decidePlan(subject, tools) {
      const verdict = decidePlan(rules, tools, subject.dynamicCalls);
      const binding = { ...subject, tools: verdict.tools.map(toBoundTool) };
      if (!verdict.tools.some(({ rememberable }) => rememberable)) return { binding, verdict };
      const remembered = await findFittingRules(db, binding);
      return { binding, verdict: decidePlan(rules, tools, subject.dynamicCalls, remembered) };
    },
    decideTool: (tool) => decide(rules, tool, { remembered: [] }),
    requestApproval: (request) => approvals.request(request, ttlMinutes),
    findApproval: (scope, id) => findApproval(db, scope, id),
    listApprovals: (scope, filter = {}) => listApprovals(db, scope, filter),
    decideApproval: (scope, id, { reason, ...decision }) =>
      approvals.decide(scope, id, { ...decision, reason: reason && secrets.hideText(reason) }, ttlMinutes),
    useApproval: (binding) => approvals.use(binding),
    waitForDecision: (scope, id, signal) => approvals.wait(scope, id, signal),
    expireApprovals: () => approvals.expire(),
    dropApprovals: (days) => dropOldApprovals(db, days),
    listRules: (scope) => listRules(db, scope),
    countDroppedRules: (scope) => countDroppedRules(db, scope),
    removeRule: (scope, id, by) => db.transaction().execute((tx) => removeRule(tx, scope, id, by)),
    [Symbol.asyncDispose]: () => approvals[Symbol.asyncDispose](),
  };
}

function toBoundTool({ tool, schemaHash, effect }: ToolVerdict): Binding["tools"][number] {
  return { id: tool, schemaHash, effect };
}

async function removeRule(tx: Tx, scope: Scope, id: string, by: string): Promise<RememberedRule> {
  const rule = await deleteRule(tx, scope, id);
  if (rule === undefined) {
    throw new PmlError("rule_not_found", `There is no remembered rule "${id}"`, { hint: "All of them: pml rules" });
  }
  const { tool, principal, bindingHash: binding } = rule;
  const details = { by, tool, principal, binding };
  await writeAudit(tx, scope, { action: "rule.remove", subject: id, outcome: "removed", details });
  return rule;
}
