import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Scope } from "../../registry/scope.ts";
import { bumpScope } from "../../registry/scope-version-store.ts";
import type { Db, Tx } from "../../db/client.ts";

export type Verdict = "accepted" | "refused";

/** A tool with a definition that nobody accepted: pending or refused. */
export interface ToolFlag {
  readonly toolId: string;
  readonly state: "open" | "refused";
}

/** A pending decision: the last accepted definition and the current one. */
export interface PendingReview extends ToolFlag {
  readonly hash: string;
  readonly seenAt: Date;
  readonly accepted: unknown;
  readonly current: unknown;
}

interface ChangeRow {
  readonly tool_id: string;
  readonly old_hash: string;
  readonly new_hash: string;
  readonly verdict: Verdict | null;
}

/** Finds an earlier decision on a definition: going back to an accepted one needs no review. */
export async function findVerdict(tx: Tx, scope: Scope, toolId: string, hash: string): Promise<Verdict | null> {
  const history = await changesOf(tx, scope)
    .select(["tool_id", "old_hash", "new_hash", "verdict"])
    .where("tool_id", "=", toolId)
    .execute();
  return verdictOn(history, hash);
}

/** The first definition of a tool counts as accepted. */
function verdictOn(history: readonly ChangeRow[], hash: string): Verdict | null {
  const decided = history.findLast(({ new_hash, verdict }) => new_hash === hash && verdict !== null);
  if (decided !== undefined) return decided.verdict;
  return history[0]?.old_hash === hash ? "accepted" : null;
}

export async function readFlags(db: Db | Tx, scope: Scope): Promise<ToolFlag[]> {
  const latest = await latestChanges(db, scope).select(["change.tool_id", "change.verdict"]).execute();
  return latest
    .filter(({ verdict }) => verdict !== "accepted")
    .map(({ tool_id, verdict }) => ({ toolId: tool_id, state: verdict ?? "open" }) as ToolFlag);
}

export async function readPendingReviews(db: Db, scope: Scope): Promise<PendingReview[]> {
  const flags = new Map((await readFlags(db, scope)).map(({ toolId, state }) => [toolId, state]));
  if (flags.size === 0) return [];
  const rows = await changesOf(db, scope)
    .select(["tool_id", "new_hash", "verdict", "old_definition", "new_definition", "seen_at"])
    .where("tool_id", "in", [...flags.keys()])
    .execute();
  const byTool = Map.groupBy(rows, ({ tool_id }) => tool_id);
  return [...byTool].flatMap(([toolId, history]) => {
    const [first, last] = [history[0], history.at(-1)];
    if (first === undefined || last === undefined) return [];
    // Compares with the accepted definition, not with the previous one: harmless steps can add up to harm.
    const accepted = history.findLast(({ verdict }) => verdict === "accepted");
    return {
      toolId,
      state: flags.get(toolId) ?? "open",
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
    await tx
      .insertInto("audit_log")
      .values({
        ...scope,
        id: newId(),
        action: "tool.review",
        subject: toolId,
        outcome: verdict,
        details: JSON.stringify({ hash }),
      })
      .execute();
    await bumpScope(tx, scope);
  });
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
