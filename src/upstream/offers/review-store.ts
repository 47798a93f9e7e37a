import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Scope } from "../../registry/scope.ts";
import { bumpScope } from "../../registry/scope-version-store.ts";
import type { Db, Tx } from "../../db/client.ts";
import type { EffectClaims } from "../../permissions/effect.ts";
import { findLowered, type LoweredEffect, type PastChange } from "./lowered-effect.ts";

export type Verdict = "accepted" | "refused";

/** A tool with a definition that nobody accepted: pending or refused. */
export interface ToolFlag {
  readonly toolId: string;
  readonly state: "open" | "refused";
  /** Set if the change lowers the claimed effect; such a tool is held whatever the policy. */
  readonly lowered?: LoweredEffect | undefined;
}

/** A pending decision: the last accepted definition and the current one. */
export interface PendingReview extends ToolFlag {
  readonly hash: string;
  readonly seenAt: Date;
  readonly accepted: unknown;
  readonly current: unknown;
}

/**
 * Decides a change without a person: going back to an accepted definition needs no review. A change that lowers the
 * effect is accepted only if a person accepted that very definition.
 */
export function decideChange(
  history: readonly StoredChange[],
  change: Omit<StoredChange, "verdict">,
  acceptsChanges: boolean,
): Verdict | null {
  const { hash } = change;
  const ofPerson = history.findLast((past) => past.hash === hash && past.byPerson);
  if (ofPerson !== undefined) return ofPerson.verdict;
  if (findLowered([...history, { ...change, verdict: null }]) !== undefined) return null;
  const decided = history.findLast((past) => past.hash === hash && past.verdict !== null);
  if (decided !== undefined) return decided.verdict;
  // The first definition of a tool counts as accepted.
  return acceptsChanges || history[0]?.hashBefore === hash ? "accepted" : null;
}

export async function readFlags(db: Db | Tx, scope: Scope): Promise<ToolFlag[]> {
  const latest = await latestChanges(db, scope).select(["change.tool_id", "change.verdict"]).execute();
  const flagged = latest.filter(({ verdict }) => verdict !== "accepted");
  const histories = await readHistories(
    db,
    scope,
    flagged.map(({ tool_id }) => tool_id),
  );
  return flagged.map(({ tool_id: toolId, verdict }) => {
    const lowered = findLowered(histories.get(toolId) ?? []);
    return { toolId, state: verdict ?? "open", ...(lowered === undefined ? {} : { lowered }) } as ToolFlag;
  });
}

export interface StoredChange extends PastChange {
  readonly id: string;
  readonly hashBefore: string;
}

/** Values of one statement; a database takes 65,535. */
const TOOLS_AT_ONCE = 10_000;

/** Reads the recorded changes of tools, the oldest first. */
export async function readHistories(
  db: Db | Tx,
  scope: Scope,
  tools: readonly string[],
): Promise<ReadonlyMap<string, readonly StoredChange[]>> {
  const changes: (StoredChange & { readonly toolId: string })[] = [];
  for (let start = 0; start < tools.length; start += TOOLS_AT_ONCE) {
    const rows = await changesOf(db, scope)
      .select(["id", "tool_id", "old_hash", "new_hash", "verdict", "reviewed_at"])
      .select(sql<EffectClaims | null>`old_definition -> 'annotations'`.as("before"))
      .select(sql<EffectClaims | null>`new_definition -> 'annotations'`.as("after"))
      .where("tool_id", "in", tools.slice(start, start + TOOLS_AT_ONCE))
      .execute();
    for (const row of rows) {
      changes.push({
        id: row.id,
        toolId: row.tool_id,
        hashBefore: row.old_hash,
        hash: row.new_hash,
        before: row.before,
        after: row.after,
        verdict: row.verdict,
        byPerson: row.reviewed_at !== null,
      });
    }
  }
  return Map.groupBy(changes, ({ toolId }) => toolId);
}

export async function readPendingReviews(db: Db, scope: Scope): Promise<PendingReview[]> {
  const flags = new Map((await readFlags(db, scope)).map((flag) => [flag.toolId, flag]));
  if (flags.size === 0) return [];
  const rows = await changesOf(db, scope)
    .select(["tool_id", "new_hash", "verdict", "old_definition", "new_definition", "seen_at"])
    .where("tool_id", "in", [...flags.keys()])
    .execute();
  const byTool = Map.groupBy(rows, ({ tool_id }) => tool_id);
  return [...byTool].flatMap(([toolId, history]) => {
    const [flag, first, last] = [flags.get(toolId), history[0], history.at(-1)];
    if (flag === undefined || first === undefined || last === undefined) return [];
    // Compares with the accepted definition, not with the previous one: harmless steps can add up to harm.
    const accepted = history.findLast(({ verdict }) => verdict === "accepted");
    return {
      ...flag,
      hash: last.new_hash,
      seenAt: last.seen_at,
      accepted: accepted?.new_definition ?? first.old_definition,
      current: last.new_definition,
    };
  });
}

export interface ReviewDecision {
  readonly toolId: string;
  readonly hash: string;
  readonly verdict: Verdict;
}

/** Stores the decision, for all gateways of the database. */
export async function writeVerdict(db: Db, scope: Scope, { toolId, hash, verdict }: ReviewDecision): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable("tool_schema_change")
      .set({ verdict, reviewed_at: sql<Date>`now()` })
      .where("org", "=", scope.org)
      .where("project", "=", scope.project)
      .where("tool_id", "=", toolId)
      .where("new_hash", "=", hash)
      .execute();
    await writeAudit(tx, scope, { action: "tool.review", subject: toolId, outcome: verdict }, { hash });
    await bumpScope(tx, scope);
  });
}

/** Records that a person believes the hints of a server, or does so no more. */
export async function recordTrust(db: Db, scope: Scope, { server, trust, reads }: RecordedTrust): Promise<void> {
  const outcome = trust ? "believed" : "doubted";
  await writeAudit(db, scope, { action: "server.hints", subject: server, outcome }, { reads });
}

interface RecordedTrust {
  readonly server: string;
  readonly trust: boolean;
  /** Tools without hints that were confirmed to only read. */
  readonly reads: readonly string[];
}

interface AuditedAct {
  readonly action: "tool.review" | "server.hints";
  readonly subject: string;
  readonly outcome: string;
}

async function writeAudit(db: Db | Tx, scope: Scope, act: AuditedAct, details: object): Promise<void> {
  const row = { ...scope, ...act, id: newId(), details: JSON.stringify(details) };
  await db.insertInto("audit_log").values(row).execute();
}

function changesOf(db: Db | Tx, { org, project }: Scope) {
  return db
    .selectFrom("tool_schema_change")
    .where("org", "=", org)
    .where("project", "=", project)
    .orderBy("tool_id")
    .orderBy("id");
}

/** Selects the last change of each tool that is still offered. */
function latestChanges(db: Db | Tx, { org, project }: Scope) {
  return db
    .selectFrom("tool_schema_change as change")
    .innerJoin("tool_schema as tool", (join) =>
      join
        .onRef("tool.org", "=", "change.org")
        .onRef("tool.project", "=", "change.project")
        .onRef("tool.tool_id", "=", "change.tool_id"),
    )
    .distinctOn("change.tool_id")
    .where("change.org", "=", org)
    .where("change.project", "=", project)
    .where("tool.removed_at", "is", null)
    .orderBy("change.tool_id")
    .orderBy("change.id", "desc");
}
