import { sql } from "kysely";
import { PmlError } from "../base/errors.ts";
import type { Tx } from "../db/client.ts";
import type { Scope } from "../registry/scope.ts";

/**
 * Refuses a question that is one too many for its principal; called in the transaction that asked it. Questions of one
 * principal are asked one after the other, so that many at once cannot pass the limit together.
 */
export async function limitPending(
  tx: Tx,
  { org, project }: Scope,
  { principal, most }: { readonly principal: string; readonly most: number },
): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`approvals ${org} ${project} ${principal}`}, 0))`.execute(
    tx,
  );
  const { count } = await tx
    .selectFrom("approvals")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("org", "=", org)
    .where("project", "=", project)
    .where("principal", "=", principal)
    .where("state", "=", "pending")
    .where("expires_at", ">", sql<Date>`now()`)
    .executeTakeFirstOrThrow();
  if (count <= most) return;
  throw new PmlError("limit_exceeded", `${most} questions wait for a person already, and no more are asked`, {
    hint: "Wait until a person has decided, or ask less. A person can raise the limit: approvals.maxPending",
    details: { setting: "approvals.maxPending", limit: most },
  });
}
