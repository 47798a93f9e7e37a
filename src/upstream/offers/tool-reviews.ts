import { isToolOf } from "../../catalogue/tool-id.ts";
import type { Scope } from "../../registry/scope.ts";
import type { Db } from "../../db/client.ts";
import { PmlError } from "../../base/errors.ts";
import type { LoweredEffect } from "./lowered-effect.ts";
import { diffDefinitions, type Difference } from "./definition-diff.ts";
import { type PendingReview, readPendingReviews, type Verdict, writeVerdict } from "./review-store.ts";

/** A changed tool, for the decision of a person. */
export interface Review {
  readonly tool: string;
  readonly state: PendingReview["state"];
  /** Hash of the pending definition. */
  readonly hash: string;
  readonly seenAt: string;
  /** Set if the change lowers the effect that the tool claims. */
  readonly lowered?: LoweredEffect | undefined;
  readonly differences: readonly Difference[];
}

export interface ReviewRequest {
  /** `server:tool`, or a server for all its changed tools. */
  readonly subject: string;
  readonly verdict: Verdict;
  /** Start of the hash of the reviewed definition; no other may be accepted. */
  readonly hash?: string;
}

/** Lists changed tools that nobody accepted, optionally of one server or tool. */
export async function listReviews(db: Db, scope: Scope, subject?: string): Promise<Review[]> {
  const pending = await readPendingReviews(db, scope);
  return pending.filter(({ toolId }) => subject === undefined || concerns(toolId, subject)).map(describe);
}

export async function decideReviews(db: Db, scope: Scope, request: ReviewRequest): Promise<Review[]> {
  const { subject, verdict, hash = "" } = request;
  const reviews = await listReviews(db, scope, subject);
  const [first] = reviews;
  if (first === undefined) {
    throw new PmlError("review_not_found", `Nothing about ${subject} waits for a review`, {
      hint: "What does: pml review",
    });
  }
  const other = reviews.find((review) => !review.hash.startsWith(hash));
  if (other !== undefined) {
    throw new PmlError("review_not_found", `The definition of ${other.tool} is not ${hash} any more`, {
      hint: `Look at what it is now: pml review ${other.tool}`,
      details: { hash: other.hash },
    });
  }
  for (const review of reviews) await writeVerdict(db, scope, { toolId: review.tool, hash: review.hash, verdict });
  return reviews;
}

function concerns(toolId: string, subject: string): boolean {
  return toolId === subject || isToolOf(toolId, subject);
}

function describe({ toolId, state, hash, seenAt, lowered, accepted, current }: PendingReview): Review {
  const differences = diffDefinitions(accepted, current);
  return { tool: toolId, state, hash, seenAt: seenAt.toISOString(), lowered, differences };
}
