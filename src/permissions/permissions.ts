import type { Scope } from "../capabilities/scope.ts";
import type { Config } from "../config/load-config.ts";
import type {
  Approval,
  ApprovalDecision,
  ApprovalFilter,
  ApprovalRequest,
  ApprovalUse,
  RememberedRule,
} from "./approval.ts";
import type { BoundPlan, PlanContext, PlannedTool, PlanVerdict } from "./plan.ts";

/**
 * Who may run what, and what people said when they were asked. A run asks in this order, also when it
 * is resumed: `decidePlan`; on "ask" `useApproval`; unless that was used, `requestApproval` and wait.
 */
export interface Permissions extends AsyncDisposable {
  /** Takes over changed rules. What cannot be read permits nothing until it can. */
  configure(config: Config): void;
  decidePlan(scope: Scope, tools: readonly PlannedTool[], context: PlanContext): Promise<PlanVerdict>;
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
  listRules(scope: Scope): Promise<RememberedRule[]>;
  removeRule(scope: Scope, id: string, by: string): Promise<RememberedRule>;
}

export interface DecidedApproval {
  readonly approval: Approval;
  /** What will not be asked again. */
  readonly rules: readonly RememberedRule[];
}
