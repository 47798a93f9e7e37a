import { CAPABILITY_PREFIX } from "../catalogue/tool-id.ts";
import { sql } from "kysely";
import type { Asker, Scope } from "../registry/scope.ts";
import { foreignAuthor } from "../registry/visibility.ts";
import type { Db } from "../db/client.ts";
import type { JsonSchema } from "../base/json.ts";
import { stripInvisible } from "../base/visible.ts";
import { SHOWN_DESCRIPTION } from "../registry/record-store.ts";
import { showDescription, showTags } from "../registry/record-texts.ts";

interface TallyRow {
  readonly subject: string;
  /** Empty for the total over all uses. */
  readonly tag: string;
  readonly uses: number;
  readonly successes: number;
}

interface SubjectIntents {
  readonly subject: string;
  /** Latest first. */
  readonly intents: readonly string[];
}

interface PairRow {
  readonly one: string;
  readonly other: string;
  readonly runs: number;
}

/** Changes in a scope since the last read. */
export interface ScopeChanges {
  /** Increases with every change of a definition. */
  readonly version: number;
  /** Clock of the database. */
  readonly readAt: Date;
  readonly tallies: readonly TallyRow[];
  readonly intents: readonly SubjectIntents[];
  /** Tools used together in runs; a pair may occur once per edge type. */
  readonly pairs: readonly PairRow[];
}

/** A transaction that began before a read may commit after it, so each read overlaps the previous one. */
const OVERLAP_SECONDS = 10;

/** Reads definitions, counters, intents and pairs in one round trip, since every search makes it. */
export async function readScopeChanges(
  db: Db,
  { org, project }: Scope,
  { since, intentsKept }: { readonly since: Date | undefined; readonly intentsKept: number },
): Promise<ScopeChanges> {
  const from = sql`${since ?? new Date(0)}::timestamptz - make_interval(secs => ${OVERLAP_SECONDS})`;
  // An array: a join without statistics compares every intent with every other. The first read takes all.
  const touched =
    since === undefined
      ? sql``
      : sql`AND subject = ANY(ARRAY(SELECT DISTINCT subject FROM discovery_intent
          WHERE org = ${org} AND project = ${project} AND changed_at > ${from}))`;
  const { rows } = await sql<Omit<ScopeChanges, "readAt"> & { read_at: Date }>`
    SELECT coalesce((SELECT version FROM scope_version WHERE org = ${org} AND project = ${project}), 0)::integer AS version,
      clock_timestamp() AS read_at,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('subject', subject, 'tag', tag, 'uses', uses, 'successes', successes)), '[]')
        FROM discovery_tally WHERE org = ${org} AND project = ${project} AND changed_at > ${from}) AS tallies,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('subject', subject, 'intents', intents)), '[]') FROM (
        SELECT subject, jsonb_agg(intent ORDER BY place) AS intents FROM (
          SELECT subject, intent, row_number() OVER (PARTITION BY subject ORDER BY changed_at DESC) AS place
          FROM discovery_intent WHERE org = ${org} AND project = ${project} ${touched}) i
        WHERE place <= ${intentsKept} GROUP BY subject) c) AS intents,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('one', from_id, 'other', to_id, 'runs', observed_count)), '[]')
        FROM tool_edge WHERE org = ${org} AND project = ${project} AND source = 'observed' AND last_at > ${from}
          AND from_id NOT LIKE ${`${CAPABILITY_PREFIX}%`} AND to_id NOT LIKE ${`${CAPABILITY_PREFIX}%`}) AS pairs`.execute(
    db,
  );
  const row = rows[0];
  if (row === undefined) throw new Error("the query for scope changes returned no row");
  const { read_at: readAt, ...changes } = row;
  return { ...changes, readAt };
}

export interface CapabilityDocumentRow {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: JsonSchema;
  /** Owner of a private document, empty for one without a creator; undefined if everyone in the scope may see it. */
  readonly owner: string | undefined;
  readonly version: number;
  /** Shared by capabilities that do the same; undefined for one on its own. */
  readonly group: string | undefined;
}

/** Lists active capabilities of the project and those the organisation shares. */
export async function listCapabilityDocuments(db: Db, { org, project }: Scope): Promise<CapabilityDocumentRow[]> {
  const { rows } = await sql<{
    id: string;
    display_name: string;
    namespace: string;
    description: string | null;
    tags: string[];
    parameters_schema: JsonSchema | null;
    owner: string | null;
    version: number;
    group_id: string | null;
  }>`
    SELECT r.id, r.display_name, r.namespace, ${SHOWN_DESCRIPTION} AS description, r.tags, v.parameters_schema,
      r.version, r.group_id,
      CASE WHEN r.visibility = 'private' THEN coalesce(r.created_by::text, '') END AS owner
    FROM capability_records r
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = r.version
    WHERE r.org = ${org} AND (r.project = ${project} OR r.visibility IN ('org', 'public'))
      AND r.record_type = 'capability' AND r.state = 'active' AND r.deleted_at IS NULL`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    name: row.display_name,
    namespace: row.namespace,
    description: showDescription(row.description ?? ""),
    tags: showTags(row.tags),
    parameters: row.parameters_schema ?? {},
    owner: row.owner ?? undefined,
    version: row.version,
    group: row.group_id ?? undefined,
  }));
}

/** Details of a capability in search results. */
export interface FoundCapability {
  readonly id: string;
  /** Set if somebody else than the reader made it. */
  readonly author: string | undefined;
  readonly code: string | null;
  readonly source: unknown;
  readonly parameters: JsonSchema;
  readonly toolsUsed: readonly string[];
  readonly usageCount: number;
  readonly successCount: number;
  readonly totalMs: number;
  readonly outputSchema: JsonSchema | undefined;
}

export async function readFoundCapabilities(
  db: Db,
  { scope: { org, project }, principal }: Asker,
  ids: readonly string[],
): Promise<Map<string, FoundCapability>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{
    id: string;
    author: string | null;
    code_snippet: string | null;
    source: unknown;
    parameters_schema: JsonSchema | null;
    tools_used: string[];
    usage_count: number | null;
    success_count: number | null;
    total_latency_ms: number | null;
    output: JsonSchema | null;
  }>`
    SELECT r.id, ${foreignAuthor({ principal })} AS author, v.code_snippet, v.source, v.parameters_schema, v.tools_used, s.usage_count, s.success_count,
      s.total_latency_ms, o.schema AS output
    FROM capability_records r
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = r.version
    LEFT JOIN capability_stat s ON s.org = r.org AND s.record_id = r.id
    LEFT JOIN output_schema o ON o.org = r.org AND o.project = ${project} AND o.subject = ${CAPABILITY_PREFIX} || r.id::text
    WHERE r.org = ${org} AND r.id = ANY(${[...ids]}::uuid[])`.execute(db);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        author: row.author === null ? undefined : stripInvisible(row.author),
        code: row.code_snippet,
        source: row.source,
        parameters: row.parameters_schema ?? {},
        toolsUsed: row.tools_used,
        usageCount: row.usage_count ?? 0,
        successCount: row.success_count ?? 0,
        totalMs: row.total_latency_ms ?? 0,
        outputSchema: row.output ?? undefined,
      },
    ]),
  );
}
