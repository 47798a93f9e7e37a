import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { CurationSuggestion } from "../../registry/curation-suggestion.ts";
import type { ChangedVia } from "../../registry/registry.ts";
import type { Scope } from "../../registry/scope.ts";
import type { Db } from "../../db/client.ts";

type SuggestionSource = "heuristic" | "model" | "sampling";

export interface SourcedSuggestion extends CurationSuggestion {
  readonly source: SuggestionSource;
}

/** Stores suggestions. An equal pending one stays; a different one is superseded. */
export async function writeSuggestions(
  db: Db,
  { org, project }: Scope,
  suggestions: readonly SourcedSuggestion[],
): Promise<void> {
  if (suggestions.length === 0) return;
  const rows = suggestions.map(({ id, suggestedName, confidence, reasoning, source }) => ({
    key: newId(),
    record_id: id,
    name: suggestedName,
    confidence,
    reasoning,
    source,
  }));
  await db.transaction().execute(async (tx) => {
    const given = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS n(key uuid, record_id uuid, name text, confidence double precision, reasoning text, source text)`;
    await sql`UPDATE capability_suggestion g SET fate = 'superseded' FROM ${given}
      WHERE g.org = ${org} AND g.record_id = n.record_id AND g.fate = 'pending' AND g.suggested_name <> n.name`.execute(
      tx,
    );
    await sql`INSERT INTO capability_suggestion
        (org, id, project, record_id, suggested_name, confidence, reasoning, source)
      SELECT ${org}, n.key, ${project}, n.record_id, n.name, n.confidence, n.reasoning, n.source FROM ${given}
      ON CONFLICT (org, record_id) WHERE fate = 'pending'
      DO UPDATE SET confidence = excluded.confidence, reasoning = excluded.reasoning, source = excluded.source`.execute(
      tx,
    );
  });
}

/**
 * Settles suggestions decided outside of curation: a rename accepts or edits a pending one, and a later rename turns
 * an automatically accepted one into an edited one.
 */
export async function settleSuggestions(db: Db, { org, project }: Scope): Promise<void> {
  await sql`
    UPDATE capability_suggestion g SET decided_at = now(), final_name = r.display_name,
      decided_via = coalesce(h.renamed_via, g.decided_via),
      fate = CASE WHEN r.display_name = g.suggested_name THEN 'accepted' ELSE 'edited' END
    FROM capability_records r
    LEFT JOIN LATERAL (SELECT renamed_via, renamed_at FROM capability_rename_history x
      WHERE x.org = r.org AND x.record_id = r.id ORDER BY renamed_at DESC, x.id DESC LIMIT 1) h ON true
    WHERE g.org = ${org} AND g.project = ${project} AND r.org = g.org AND r.id = g.record_id
      AND NOT starts_with(r.display_name, 'unnamed_')
      AND ((g.fate = 'pending' AND h.renamed_at >= g.created_at)
        OR (g.fate = 'accepted' AND g.decided_via = 'auto' AND r.display_name <> g.final_name))`.execute(db);
}

export interface SuggestionDecision {
  readonly recordId: string;
  /** The new name; undefined to reject the suggestion. */
  readonly name: string | undefined;
  readonly via: ChangedVia;
}

/** Closes the pending suggestion of a capability and returns its fate; undefined if none was pending. */
export async function decideSuggestion(
  db: Db,
  { org }: Scope,
  { recordId, name, via }: SuggestionDecision,
): Promise<"accepted" | "edited" | "rejected" | undefined> {
  const { rows } = await sql<{ fate: "accepted" | "edited" | "rejected" }>`
    UPDATE capability_suggestion SET decided_at = now(), decided_via = ${via}, final_name = ${name ?? null},
      fate = CASE WHEN ${name ?? null}::text IS NULL THEN 'rejected'
        WHEN suggested_name = ${name ?? null}::text THEN 'accepted' ELSE 'edited' END
    WHERE org = ${org} AND record_id = ${recordId} AND fate = 'pending' RETURNING fate`.execute(db);
  return rows[0]?.fate;
}

/** Reads rejected names as `[record id, name]`. */
export async function readRejected(db: Db, { org, project }: Scope): Promise<(readonly [string, string])[]> {
  const rows = await db
    .selectFrom("capability_suggestion")
    .select(["record_id", "suggested_name"])
    .where("org", "=", org)
    .where("project", "=", project)
    .where("fate", "=", "rejected")
    .execute();
  return rows.map(({ record_id: id, suggested_name: name }) => [id, name]);
}

/** Lists pending suggestions, highest confidence first. */
export async function listPending(db: Db, { org, project }: Scope): Promise<SourcedSuggestion[]> {
  const rows = await db
    .selectFrom("capability_suggestion as g")
    .innerJoin("capability_records as r", (join) => join.onRef("r.org", "=", "g.org").onRef("r.id", "=", "g.record_id"))
    .select(["g.record_id", "r.display_name", "g.suggested_name", "g.confidence", "g.reasoning", "g.source"])
    .where("g.org", "=", org)
    .where("g.project", "=", project)
    .where("g.fate", "=", "pending")
    .where("r.state", "=", "active")
    .where("r.deleted_at", "is", null)
    .orderBy("g.confidence", "desc")
    .orderBy("g.record_id")
    .execute();
  return rows.map((row) => ({
    id: row.record_id,
    currentName: row.display_name,
    suggestedName: row.suggested_name,
    confidence: row.confidence,
    reasoning: row.reasoning,
    source: row.source,
  }));
}

export interface SuggestionCounts {
  readonly pending: number;
  readonly accepted: number;
  /** Accepted ones that were applied without asking. */
  readonly auto: number;
  readonly edited: number;
  readonly rejected: number;
}

export async function countFates(db: Db, { org, project }: Scope): Promise<SuggestionCounts> {
  const { rows } = await sql<SuggestionCounts>`
    SELECT count(*) FILTER (WHERE fate = 'pending')::integer AS pending,
      count(*) FILTER (WHERE fate = 'accepted')::integer AS accepted,
      count(*) FILTER (WHERE fate = 'accepted' AND decided_via = 'auto')::integer AS auto,
      count(*) FILTER (WHERE fate = 'edited')::integer AS edited,
      count(*) FILTER (WHERE fate = 'rejected')::integer AS rejected
    FROM capability_suggestion WHERE org = ${org} AND project = ${project}`.execute(db);
  return rows[0] ?? { pending: 0, accepted: 0, auto: 0, edited: 0, rejected: 0 };
}
