import type { Scope } from "../registry/scope.ts";
import type { Config } from "../config/load-config.ts";
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
import type { BoundPlan, PlanContext, PlannedTool, PlanVerdict, Routing, ToolVerdict } from "./plan.ts";
import { brokenRules, readRules } from "./read-rules.ts";
import { deleteRule, findFittingRules, listRules } from "./rule-store.ts";
import { decide, findRouting } from "./rule-model.ts";

type PermissionConfig = Pick<Config, "home" | "file" | "permissions" | "approvals" | "scope">;

/**
 * Who may run what, and what people said when they were asked. A run asks in this order, also when it
 * is resumed: `decidePlan`; on "ask" `useApproval`; unless that was used, `requestApproval` and wait.
 */
export interface Permissions extends AsyncDisposable {
  /** Takes over changed rules. What cannot be read permits nothing until it can. */
  configure(config: PermissionConfig): void;
  /** Why nothing is permitted, when nothing is. */
  readonly problem: ErrorReport | undefined;
  /** Something could not be read that may have forbidden something. */
  denyAll(error: unknown): void;
  /** Where a tool runs, as far as the rules say it. */
  findRouting(toolId: string): Routing | undefined;
  decidePlan(scope: Scope, tools: readonly PlannedTool[], context: PlanContext): Promise<PlanVerdict>;
  /** What the rules say of a tool by itself; what people allowed to programs does not count. */
  decideTool(tool: PlannedTool): ToolVerdict;
  /** The same question, asked again while it is open, is the same approval. */
  requestApproval(scope: Scope, request: ApprovalRequest): Promise<Approval>;
  findApproval(scope: Scope, id: string): Promise<Approval | undefined>;
  /** Newest first. */
  listApprovals(scope: Scope, filter?: ApprovalFilter): Promise<Approval[]>;
  /** Exactly once; throws when it was decided, is expired or superseded. */
  decideApproval(scope: Scope, id: string, decision: ApprovalDecision): Promise<DecidedApproval>;
  /** One approval lets one run go, of exactly the plan that was approved. */
  useApproval(scope: Scope, plan: BoundPlan): Promise<ApprovalUse>;
  /** Resolves once it is no longer pending, whoever decided; rejects with the signal's reason. */
  waitForDecision(scope: Scope, id: string, signal: AbortSignal): Promise<Approval>;
  expireApprovals(): Promise<void>;
  /** Those that could last be used this many days ago. */
  dropApprovals(days: number): Promise<void>;
  listRules(scope: Scope): Promise<RememberedRule[]>;
  removeRule(scope: Scope, id: string, by: string): Promise<RememberedRule>;
}

export interface PermissionsOptions {
  readonly client: DatabaseClient;
  readonly events: EventBus;
  readonly config: PermissionConfig;
  /** How long a waiter relies on being told before it looks for itself. */
  readonly pollMs?: number;
}

export async function createPermissions(options: PermissionsOptions): Promise<Permissions> {
  const { db } = options.client;
  const approvals = await createApprovals(options);
  let rules = readRules(options.config);
  let { ttlMinutes } = options.config.approvals;
  return {
    configure(config) {
      rules = readRules(config);
      ({ ttlMinutes } = config.approvals);
      options.events.publish({ kind: "permissions_changed", ...options.config.scope });
    },
    findRouting: (toolId) => findRouting(rules, toolId),
    get problem() {
      return rules.kind === "broken" ? rules.error : undefined;
    },
    denyAll: (error) => void (rules = brokenRules(error)),
    async decidePlan(scope, tools, context) {
      const verdict = decidePlan(rules, tools, context);
      if (!verdict.tools.some(({ rememberable }) => rememberable)) return verdict;
      return decidePlan(rules, tools, context, await findFittingRules(db, scope, context));
    },
    decideTool: (tool) => decide(rules, tool, { remembered: [] }),
    requestApproval: (scope, request) => approvals.request(scope, request, ttlMinutes),
    findApproval: (scope, id) => findApproval(db, scope, id),
    listApprovals: (scope, filter = {}) => listApprovals(db, scope, filter),
    decideApproval: (scope, id, decision) => approvals.decide(scope, id, decision, ttlMinutes),
    useApproval: (scope, plan) => approvals.use(scope, plan),
    waitForDecision: (scope, id, signal) => approvals.wait(scope, id, signal),
    expireApprovals: () => approvals.expire(),
    dropApprovals: (days) => dropOldApprovals(db, days),
    listRules: (scope) => listRules(db, scope),
    removeRule: (scope, id, by) => db.transaction().execute((tx) => removeRule(tx, scope, id, by)),
    [Symbol.asyncDispose]: () => approvals[Symbol.asyncDispose](),
  };
}

async function removeRule(tx: Tx, scope: Scope, id: string, by: string): Promise<RememberedRule> {
  const rule = await deleteRule(tx, scope, id);
  if (rule === undefined) {
    throw new PmlError("rule_not_found", `There is no remembered rule "${id}"`, { hint: "All of them: pml rules" });
  }
  const { tool, principal, codeHash } = rule;
  const details = { by, tool, principal, codeHash };
  await writeAudit(tx, scope, { action: "rule.remove", subject: id, outcome: "removed", details });
  return rule;
}
