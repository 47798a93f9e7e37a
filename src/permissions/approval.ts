import { PmlError } from "../base/errors.ts";
import type { JsonSchema } from "../base/json.ts";
import type { Binding } from "./binding.ts";
import type { JudgedPlan, ToolVerdict } from "./plan.ts";

/** `expired`: no decision in time, unlike `refused`. `superseded`: the run has asked for another plan since. */
export type ApprovalState = "pending" | "approved" | "refused" | "expired" | "superseded";

/** Channels through which a person can decide. No tool is among them. */
export type DecidedVia = "cli" | "dashboard" | "elicitation";

/** A run's request for a person's approval. */
export interface ApprovalRequest extends JudgedPlan {
  readonly runId: string;
  readonly intent: string;
  /** Name that the calling client gives itself. */
  readonly client?: string | undefined;
  /** Display name of the capability, if the program is one. */
  readonly capability?: string | undefined;
  /** Schema of the arguments; those that it calls secret are hidden in the question. */
  readonly schema?: JsonSchema | undefined;
}

export interface Approval {
  /** `apr_…`, short enough to type. */
  readonly id: string;
  readonly runId: string;
  readonly state: ApprovalState;
  readonly principal: string;
  readonly client?: string;
  readonly capability?: string;
  readonly intent: string;
  /** Its texts are as people see them. */
  readonly binding: Binding;
  readonly tools: readonly ToolVerdict[];
  readonly reasons: readonly string[];
  readonly createdAt: Date;
  /** Deadline for the decision; once approved, for the use. */
  readonly expiresAt: Date;
  readonly decidedAt?: Date;
  readonly decidedBy?: string;
  readonly decidedVia?: DecidedVia;
  /** The person's comment. */
  readonly reason?: string;
  readonly usedAt?: Date;
}

/** A person's decision. */
export interface ApprovalDecision {
  readonly decision: "approve" | "refuse";
  readonly by: string;
  readonly via: DecidedVia;
  /** Returned to the agent. */
  readonly reason?: string | undefined;
  /** Also allows the rememberable tools to this program and principal, for good or for some days. */
  readonly remember?: true | { readonly days: number } | undefined;
}

/** Reads the choice of a form; undefined for any other value. */
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
  readonly oldestFirst?: boolean;
}

/** Outcome of looking for an approval of exactly this plan. */
export type ApprovalUse =
  | { readonly kind: "used"; readonly approval: Approval }
  /** An approval exists but does not permit the plan: not decided yet, refused or expired. */
  | { readonly kind: "pending" | "refused" | "expired"; readonly approval: Approval }
  /** No approval was requested for this plan, or it has been used. */
  | { readonly kind: "none" };

/** A rule left by a person: this tool, under this binding with any arguments. */
export interface RememberedRule {
  /** `rul_…`. */
  readonly id: string;
  readonly tool: string;
  readonly schemaHash: string;
  /** Hash of the binding without arguments. */
  readonly bindingHash: string;
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
  /** Rules created with the decision. */
  readonly rules: readonly RememberedRule[];
}

export function notFound(id: string): PmlError {
  return new PmlError("approval_not_found", `There is no approval "${id}"`, { hint: "Pending approvals: pml inbox" });
}

/** Builds the error for an approval that can no longer be decided. */
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
    hint: "Pending approvals: pml inbox",
    details,
  });
}
