import { type Selectable, sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Scope } from "../registry/scope.ts";
import type { Db, Tx } from "../db/client.ts";
import type { Tables } from "../db/tables.ts";
import { storableText } from "../base/storable.ts";
import type { Approval, ApprovalDecision, RememberedRule } from "./approval.ts";
import { type Binding, hashRule } from "./binding.ts";
import { newShortId } from "./short-id.ts";

type RuleRow = Selectable<Tables["permission_rules"]>;

function selectValid(db: Db, { org, project }: Scope) {
  return db
    .selectFrom("permission_rules")
    .selectAll()
    .where("org", "=", org)
    .where("project", "=", project)
    .where((is) => is.or([is("expires_at", "is", null), is("expires_at", ">", sql<Date>`now()`)]));
}

export async function listRules(db: Db, scope: Scope): Promise<RememberedRule[]> {
  return (await selectValid(db, scope).orderBy("id", "desc").execute()).map(toRule);
}

/** Counts rules that a migration dropped lately, because they bound less than rules do now. */
export async function countDroppedRules(db: Db, { org, project }: Scope): Promise<number> {
  const { dropped } = await db
    .selectFrom("audit_log")
    .select(({ fn }) => fn.countAll<string>().as("dropped"))
    .where("org", "=", org)
    .where("project", "=", project)
    .where("action", "=", "rule.drop")
    .where("at", ">", sql<Date>`now() - make_interval(days => 30)`)
    .executeTakeFirstOrThrow();
  return Number(dropped);
}

/** Finds remembered rules for this binding with any arguments. */
export async function findFittingRules(db: Db, binding: Binding): Promise<RememberedRule[]> {
  const rows = await selectValid(db, binding.scope).where("binding_hash", "=", hashRule(binding)).execute();
  return rows.map(toRule);
}

/** Inserts a rule for each rememberable tool of the approval; renews existing ones. */
export async function rememberApproval(
  tx: Tx,
  scope: Scope,
  approval: Approval,
  { by, via, remember }: ApprovalDecision,
): Promise<RememberedRule[]> {
  const tools = approval.tools.filter(({ rememberable }) => rememberable);
  if (remember === undefined || tools.length === 0) return [];
  const created = {
    capability: approval.capability ?? null,
    approval_id: approval.id,
    created_at: sql<Date>`now()`,
    created_by: storableText(by),
    created_via: via,
    expires_at: remember === true ? null : sql<Date>`now() + make_interval(secs => ${remember.days * 86_400})`,
  };
  const rows = await tx
    .insertInto("permission_rules")
    .values(
      tools.map(({ tool, schemaHash }) => ({
        ...scope,
        ...created,
        id: newId(),
        short_id: newShortId("rul"),
        principal: approval.principal,
        binding_hash: hashRule(approval.binding),
        tool_id: tool,
        schema_hash: schemaHash,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(["org", "project", "principal", "binding_hash", "tool_id", "schema_hash"]).doUpdateSet(created),
    )
    .returningAll()
    .execute();
  return rows.map(toRule);
}

export async function deleteRule(tx: Tx, { org, project }: Scope, id: string): Promise<RememberedRule | undefined> {
  const row = await tx
    .deleteFrom("permission_rules")
    .where("org", "=", org)
    .where("project", "=", project)
    .where("short_id", "=", id)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toRule(row);
}

function toRule(row: RuleRow): RememberedRule {
  return {
    id: row.short_id,
    tool: row.tool_id,
    schemaHash: row.schema_hash,
    bindingHash: row.binding_hash,
    principal: row.principal,
    approvalId: row.approval_id,
    createdBy: row.created_by,
    createdVia: row.created_via,
    createdAt: row.created_at,
    ...(row.capability === null ? {} : { capability: row.capability }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
  };
}
