import { type Selectable, sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Scope } from "../registry/scope.ts";
import type { Db, Tx } from "../db/client.ts";
import type { Tables } from "../db/tables.ts";
import { storableJson, storableText } from "../base/storable.ts";
import type { Approval, ApprovalDecision, ApprovalFilter, ApprovalRequest, ApprovalState } from "./approval.ts";
import { type Binding, hashBinding } from "./binding.ts";
import type { ToolVerdict } from "./plan.ts";
import { newShortId } from "./short-id.ts";

type ApprovalRow = Selectable<Tables["approvals"]>;

/** An approval past its time counts as expired at once, even before the job has marked it. */
const OVERDUE = sql<boolean>`state IN ('pending', 'approved') AND used_at IS NULL AND expires_at <= now()`;
const STATE_NOW = sql<ApprovalState>`CASE WHEN ${OVERDUE} THEN 'expired' ELSE state END`;

function selectApprovals(db: Db | Tx, { org, project }: Scope) {
  return db
    .selectFrom("approvals")
    .selectAll()
    .select(STATE_NOW.as("state_now"))
    .where("org", "=", org)
    .where("project", "=", project);
}

export async function findApproval(db: Db | Tx, scope: Scope, id: string): Promise<Approval | undefined> {
  const row = await selectApprovals(db, scope).where("short_id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : toApproval(row);
}

/** The latest approval of exactly this plan, by the database's clock, since gateways' clocks may differ. */
export async function findBoundApproval(tx: Tx, scope: Scope, binding: string): Promise<Approval | undefined> {
  const row = await selectApprovals(tx, scope)
    .where("binding_hash", "=", binding)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : toApproval(row);
}

/** The pending approval of this plan; there is at most one. */
export async function findOpenApproval(tx: Tx, scope: Scope, binding: string): Promise<Approval | undefined> {
  const row = await selectApprovals(tx, scope)
    .where("binding_hash", "=", binding)
    .where(STATE_NOW, "=", "pending")
    .executeTakeFirst();
  return row === undefined ? undefined : toApproval(row);
}

const MAX_LISTED = 200;

export async function listApprovals(db: Db, scope: Scope, filter: ApprovalFilter): Promise<Approval[]> {
  const { states, runId, limit = MAX_LISTED, oldestFirst = false } = filter;
  let query = selectApprovals(db, scope);
  if (states !== undefined) query = query.where(STATE_NOW, "in", states);
  if (runId !== undefined) query = query.where("run_id", "=", runId);
  return (
    await query
      .orderBy("created_at", oldestFirst ? "asc" : "desc")
      .limit(limit)
      .execute()
  ).map(toApproval);
}

/** Inserts a pending approval, its binding as shown; returns undefined if the same plan already has one. */
export async function insertApproval(
  tx: Tx,
  request: ApprovalRequest,
  ttlMinutes: number,
): Promise<Approval | undefined> {
  const { runId, client, capability, intent, binding, verdict } = request;
  const row = await tx
    .insertInto("approvals")
    .values({
      ...binding.scope,
      id: newId(),
      short_id: newShortId("apr"),
      run_id: runId,
      principal: binding.principal,
      client: client === undefined ? null : storableText(client),
      capability: capability ?? null,
      intent: storableText(intent),
      // A text column, not jsonb: JSON escapes what jsonb rejects, so that every name comes back as it was.
      binding: JSON.stringify(binding),
      tools: storableJson(verdict.tools),
      reasons: storableJson(verdict.reasons),
      binding_hash: hashBinding(binding),
      expires_at: inMinutes(ttlMinutes),
    })
    .onConflict((conflict) =>
      conflict.columns(["org", "project", "binding_hash"]).where("state", "=", "pending").doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toApproval(row);
}

/** Closes pending approvals of this run for other plans. */
export async function supersedeApprovals(tx: Tx, scope: Scope, runId: string, binding: string): Promise<Approval[]> {
  const rows = await tx
    .updateTable("approvals")
    .set({ state: "superseded" })
    .where("org", "=", scope.org)
    .where("project", "=", scope.project)
    .where("run_id", "=", runId)
    .where("binding_hash", "<>", binding)
    .where("state", "=", "pending")
    .returningAll()
    .execute();
  return rows.map(toApproval);
}

/** Marks overdue approvals of all scopes as expired; a binding restricts it to one plan. */
export async function expireOverdue(tx: Tx, binding?: string): Promise<ScopedApproval[]> {
  let update = tx.updateTable("approvals").set({ state: "expired" }).where(OVERDUE);
  if (binding !== undefined) update = update.where("binding_hash", "=", binding);
  const rows = await update.returningAll().execute();
  return rows.map((row) => ({ scope: { org: row.org, project: row.project }, approval: toApproval(row) }));
}

/** Deletes approvals that expired long ago, in any state. */
export async function dropOldApprovals(db: Db, days: number): Promise<void> {
  await db
    .deleteFrom("approvals")
    .where("expires_at", "<", sql<Date>`now() - make_interval(secs => ${days * 86_400})`)
    .execute();
}

export interface ScopedApproval {
  readonly scope: Scope;
  readonly approval: Approval;
}

/** Writes the decision if the approval is still pending; in a race, one writer wins. */
export async function writeDecision(
  tx: Tx,
  scope: Scope,
  { id, decision, ttlMinutes }: { id: string; decision: ApprovalDecision; ttlMinutes: number },
): Promise<Approval | undefined> {
  const approved = decision.decision === "approve";
  const row = await tx
    .updateTable("approvals")
    .set({
      state: approved ? "approved" : "refused",
      decided_at: sql<Date>`now()`,
      decided_by: storableText(decision.by),
      decided_via: decision.via,
      reason: decision.reason === undefined ? null : storableText(decision.reason),
      ...(approved ? { expires_at: inMinutes(ttlMinutes) } : {}),
    })
    .where("org", "=", scope.org)
    .where("project", "=", scope.project)
    .where("short_id", "=", id)
    .where("state", "=", "pending")
    .where("expires_at", ">", sql<Date>`now()`)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toApproval(row);
}

/** Marks an approved approval of this plan as used; in a race, one run gets it. */
export async function takeApproval(tx: Tx, { org, project }: Scope, binding: string): Promise<Approval | undefined> {
  const row = await tx
    .updateTable("approvals")
    .set({ used_at: sql<Date>`now()` })
    .where("org", "=", org)
    .where("id", "=", (from) =>
      from
        .selectFrom("approvals")
        .select("id")
        .where("org", "=", org)
        .where("project", "=", project)
        .where("binding_hash", "=", binding)
        .where("state", "=", "approved")
        .where("used_at", "is", null)
        .where("expires_at", ">", sql<Date>`now()`)
        .orderBy("created_at")
        .limit(1)
        .forUpdate(),
    )
    .where("state", "=", "approved")
    .where("used_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toApproval(row);
}

function inMinutes(minutes: number) {
  return sql<Date>`now() + make_interval(secs => ${minutes * 60})`;
}

function toApproval(row: ApprovalRow & { readonly state_now?: ApprovalState }): Approval {
  return {
    id: row.short_id,
    runId: row.run_id,
    state: row.state_now ?? row.state,
    principal: row.principal,
    intent: row.intent,
    binding: JSON.parse(row.binding) as Binding,
    tools: row.tools as ToolVerdict[],
    reasons: row.reasons as string[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(row.client === null ? {} : { client: row.client }),
    ...(row.capability === null ? {} : { capability: row.capability }),
    ...(row.decided_at === null ? {} : { decidedAt: row.decided_at }),
    ...(row.decided_by === null ? {} : { decidedBy: row.decided_by }),
    ...(row.decided_via === null ? {} : { decidedVia: row.decided_via }),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.used_at === null ? {} : { usedAt: row.used_at }),
  };
}
