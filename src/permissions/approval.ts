import { PmlError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { BoundPlan, ToolVerdict } from "./plan.ts";

/** Expired is not refused: nobody said no. Superseded: the run has asked something else since. */
export type ApprovalState = "pending" | "approved" | "refused" | "expired" | "superseded";

/** The ways in which a person can decide. None of them is a tool. */
export type DecidedVia = "cli" | "dashboard" | "elicitation";

/** What a run asks of a person. */
export interface ApprovalRequest extends BoundPlan {
  readonly runId: string;
  readonly intent: string;
  readonly code: string;
  /** The program that asks, as its client calls itself. */
  readonly client?: string | undefined;
  /** Of the capability that runs, where there is one. */
  readonly capability?: string | undefined;
}

export interface Approval {
  /** `apr_…`, short enough to be typed. */
  readonly id: string;
  readonly runId: string;
  readonly state: ApprovalState;
  readonly principal: string;
  readonly client?: string;
  readonly capability?: string;
  readonly intent: string;
  readonly code: string;
  readonly codeHash: string;
  readonly input?: JsonValue;
  readonly tools: readonly ToolVerdict[];
  readonly reasons: readonly string[];
  readonly createdAt: Date;
  /** Until when it can be decided; of an approved one, until when it can be used. */
  readonly expiresAt: Date;
  readonly decidedAt?: Date;
  readonly decidedBy?: string;
  readonly decidedVia?: DecidedVia;
  /** What the person said to it. */
  readonly reason?: string;
  readonly usedAt?: Date;
}

/** A person's answer. */
export interface ApprovalDecision {
  readonly decision: "approve" | "refuse";
  readonly by: string;
  readonly via: DecidedVia;
  /** Goes back to the agent. */
  readonly reason?: string | undefined;
  /** Allow what can be remembered of it for this program and principal from now on, or for some days. */
  readonly remember?: true | { readonly days: number } | undefined;
}

/** The choices of a form; undefined for anything else. */
export function readAnswer(
  answer: unknown,
  { by, via, reason }: { by: string; via: DecidedVia; reason: unknown },
): ApprovalDecision | undefined {
  const given = { by, via, reason: typeof reason === "string" && reason !== "" ? reason : undefined };
  if (answer === "once") return { ...given, decision: "approve" };
  if (answer === "always") return { ...given, decision: "approve", remember: true };
  return answer === "refuse" ? { ...given, decision: "refuse" } : undefined;
}

export interface ApprovalFilter {
  readonly states?: readonly ApprovalState[];
  readonly runId?: string;
  readonly limit?: number;
}

/** What came of looking for an approval of exactly this plan. */
export type ApprovalUse =
  | { readonly kind: "used"; readonly approval: Approval }
  /** There is one, but it does not let the plan run: not yet, or not any more. */
  | { readonly kind: "pending" | "refused" | "expired"; readonly approval: Approval }
  /** Nobody was asked about this plan, or what was granted has been used up. */
  | { readonly kind: "none" };

/** A rule that a person left: this tool, as it is now, called by this program for this principal. */
export interface RememberedRule {
  /** `rul_…`. */
  readonly id: string;
  readonly tool: string;
  readonly schemaHash: string;
  readonly codeHash: string;
  readonly principal: string;
  readonly capability?: string;
  readonly approvalId: string;
  readonly createdBy: string;
  readonly createdVia: DecidedVia;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
}

export interface DecidedApproval {
  readonly approval: Approval;
  /** What will not be asked again. */
  readonly rules: readonly RememberedRule[];
}

export function notFound(id: string): PmlError {
  return new PmlError("approval_not_found", `There is no approval "${id}"`, { hint: "What waits for you: pml inbox" });
}

/** Why an approval cannot be decided, when it cannot. */
export function notDecidable(id: string, approval: Approval | undefined): PmlError {
  if (approval === undefined) return notFound(id);
  const { state, decidedBy, decidedVia, decidedAt, expiresAt } = approval;
  const details = { id, state };
  if (state === "expired") {
    return new PmlError("approval_expired", `${id} expired at ${expiresAt.toISOString()} and was not decided`, {
      hint: "The agent can ask again. To have more time: approvals.ttlMinutes",
      details,
    });
  }
  const how =
    state === "superseded"
      ? "its run has asked something else since"
      : `it was ${state} by ${decidedBy} (${decidedVia}) at ${decidedAt?.toISOString()}`;
  return new PmlError("approval_decided", `${id} cannot be decided: ${how}`, {
    hint: "What waits for you: pml inbox",
    details,
  });
}
