import { type RawBuilder, sql } from "kysely";
import type { StaticStructure } from "../analysis/structure.ts";
import type { Db, Tx } from "../db/client.ts";
import type { JsonSchema } from "../base/json.ts";
import { stripInvisible } from "../base/visible.ts";
import { type CachePolicy, type CapabilitySource, type CapabilityState, toStructure } from "./capability.ts";
import type { CapabilityRecord, CapabilityVersion, Health, RecordType, Routing } from "./record.ts";
import { showDescription, showTags } from "./record-texts.ts";
import { TEXT_LIMITS, type Visibility } from "./record-words.ts";
import type { Asker } from "./scope.ts";
import { foreignAuthor } from "./visibility.ts";

interface VersionColumns {
  source_kind: "code" | "dag" | "tool" | "server";
  code_snippet: string | null;
  source: CapabilitySource | null;
  parameters_schema: JsonSchema | null;
  tools_used: string[];
  signature: string | null;
  version: number;
  version_tag: string | null;
}

interface RecordRow extends VersionColumns {
  id: string;
  record_type: RecordType;
  fqdn: string;
  display_name: string;
  org: string;
  project: string;
  namespace: string;
  action: string;
  hash: string;
  state: CapabilityState;
  health: Health;
  visibility: Visibility;
  description: string | null;
  tags: string[];
  routing: Routing | null;
  cache_policy: CachePolicy | null;
  ttl_seconds: number | null;
  verified: boolean;
  usage_count: number;
  success_count: number;
  total_latency_ms: number;
  last_used_at: Date | null;
  aliases: string[];
  parent_id: string | null;
  forked_from_fqdn: string | null;
  creator: string | null;
  author: string | null;
  created_at: Date;
  updater: string | null;
  updated_at: Date;
  archived_at: Date | null;
}

/** Only a passed verification changes the health so far. */
export const HEALTH = sql`CASE WHEN r.verified THEN 'green' ELSE 'pending' END`;

/** One character more than is shown, so that the cut is noticed. */
export const SHOWN_DESCRIPTION = sql`left(r.description, ${sql.lit(TEXT_LIMITS.description + 1)})`;

const RECORD_COLUMNS = sql`r.id, r.record_type, r.fqdn, r.display_name, r.org, r.project, r.namespace, r.action, r.hash, r.state,
  ${HEALTH} AS health, r.visibility, ${SHOWN_DESCRIPTION} AS description, r.tags, r.routing, r.cache_policy, r.ttl_seconds, r.verified,
  v.source_kind, v.code_snippet, v.source, v.parameters_schema, v.tools_used, v.signature, v.version, v.version_tag,
  coalesce(s.usage_count, 0) AS usage_count, coalesce(s.success_count, 0) AS success_count,
  coalesce(s.total_latency_ms, 0) AS total_latency_ms, s.last_used_at,
  ARRAY(SELECT a.alias FROM capability_aliases a WHERE a.org = r.org AND a.record_id = r.id
    ORDER BY a.kind DESC, a.created_at, a.alias) AS aliases,
  r.parent_id, r.forked_from_fqdn, coalesce(c.name, r.created_by::text) AS creator, r.created_at, coalesce(u.name, r.updated_by::text) AS updater, r.updated_at, r.archived_at`;

/** Selects records as `r`, the given (or current) version as `v` and usage statistics as `s`. */
export function selectRecords(
  reader: Pick<Asker, "principal">,
  version: RawBuilder<unknown> = sql`r.version`,
): RawBuilder<RecordRow> {
  return sql<RecordRow>`SELECT ${RECORD_COLUMNS}, ${foreignAuthor(reader)} AS author FROM capability_records r
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = ${version}
    LEFT JOIN capability_stat s ON s.org = r.org AND s.record_id = r.id
    LEFT JOIN principals c ON c.org = r.org AND c.id = r.created_by
    LEFT JOIN principals u ON u.org = r.org AND u.id = r.updated_by`;
}

export async function readRecord(
  db: Db | Tx,
  { principal, org }: { readonly principal: string; readonly org: string },
  { id, version }: { readonly id: string; readonly version?: number },
): Promise<CapabilityRecord> {
  const { rows } = await sql<RecordRow>`
    ${selectRecords({ principal }, version === undefined ? undefined : sql`${version}::integer`)}
    WHERE r.org = ${org} AND r.id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`record ${id} does not exist`);
  return toRecord(row);
}

/** Newest first. */
export async function readVersions(db: Db, org: string, id: string): Promise<CapabilityVersion[]> {
  const { rows } = await sql<
    VersionColumns & {
      source_hash: string;
      structure: Partial<StaticStructure> | null;
      change_summary: string | null;
      creator: string | null;
      created_at: Date;
    }
  >`
    SELECT v.version, v.version_tag, v.source_kind, v.code_snippet, v.source, v.source_hash, v.structure,
      v.parameters_schema, v.tools_used, v.change_summary, v.signature, coalesce(p.name, v.created_by::text) AS creator, v.created_at
    FROM capability_versions v LEFT JOIN principals p ON p.org = v.org AND p.id = v.created_by
    WHERE v.org = ${org} AND v.record_id = ${id} ORDER BY v.version DESC`.execute(db);
  return rows.map((row) => ({
    recordId: id,
    ...toVersionParts(row),
    sourceHash: row.source_hash,
    structure: toStructure(row.structure),
    changeSummary: row.change_summary === null ? undefined : stripInvisible(row.change_summary),
    createdBy: row.creator ?? OWNER_NAME,
    createdAt: row.created_at,
  }));
}

/** Counts a use without a run: reported by feedback, or answered from the cache. */
export async function countUse(
  db: Db,
  org: string,
  { id, success, latencyMs }: { readonly id: string; readonly success: boolean; readonly latencyMs: number },
): Promise<void> {
  await sql`
    INSERT INTO capability_stat AS s (org, record_id, usage_count, success_count, total_latency_ms, last_used_at)
    VALUES (${org}, ${id}, 1, ${success ? 1 : 0}, ${Math.round(latencyMs)}, now())
    ON CONFLICT (org, record_id) DO UPDATE SET usage_count = s.usage_count + 1,
      success_count = s.success_count + excluded.success_count,
      total_latency_ms = s.total_latency_ms + excluded.total_latency_ms, last_used_at = now()`.execute(db);
}

/** Counts a principal's verdict once: the same again changes nothing, another one replaces it. */
export async function countVerdict(
  db: Db,
  org: string,
  verdict: {
    readonly id: string;
    readonly principal: string;
    readonly success: boolean;
    readonly latencyMs: number;
  },
): Promise<void> {
  const { id, principal, success, latencyMs } = verdict;
  await sql`
    WITH given AS (
      INSERT INTO capability_feedback AS f (org, record_id, principal, success)
      VALUES (${org}, ${id}, ${principal}, ${success})
      ON CONFLICT (org, record_id, principal) DO UPDATE SET success = excluded.success, given_at = now()
        WHERE f.success <> excluded.success
      RETURNING (xmax = 0)::integer AS fresh)
    UPDATE capability_stat s SET usage_count = s.usage_count + g.fresh,
      success_count = s.success_count + CASE WHEN ${success}::boolean THEN 1 ELSE g.fresh - 1 END,
      total_latency_ms = s.total_latency_ms + g.fresh * ${Math.round(latencyMs)}::bigint, last_used_at = now()
    FROM given g WHERE s.org = ${org} AND s.record_id = ${id}`.execute(db);
}

const OWNER_NAME = "local";

export function toRecord(row: RecordRow): CapabilityRecord {
  return {
    id: row.id,
    recordType: row.record_type,
    fqdn: row.fqdn,
    displayName: row.display_name,
    org: row.org,
    project: row.project,
    namespace: row.namespace,
    action: row.action,
    hash: row.hash,
    state: row.state,
    health: row.health,
    visibility: row.visibility,
    description: row.description === null ? undefined : showDescription(row.description),
    tags: showTags(row.tags),
    routing: row.routing ?? undefined,
    cachePolicy: row.cache_policy ?? "none",
    ttlSeconds: row.ttl_seconds ?? undefined,
    verified: row.verified,
    ...toVersionParts(row),
    usageCount: row.usage_count,
    successCount: row.success_count,
    totalLatencyMs: row.total_latency_ms,
    lastUsedAt: row.last_used_at ?? undefined,
    aliases: row.aliases,
    parentId: row.parent_id ?? undefined,
    forkedFrom: row.forked_from_fqdn ?? undefined,
    createdBy: row.creator ?? OWNER_NAME,
    author: row.author === null ? undefined : stripInvisible(row.author),
    createdAt: row.created_at,
    updatedBy: row.updater ?? OWNER_NAME,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at ?? undefined,
  };
}

function toVersionParts(row: VersionColumns) {
  return {
    version: row.version,
    versionTag: row.version_tag ?? undefined,
    source: toSource(row),
    parameters: row.parameters_schema ?? {},
    toolsUsed: row.tools_used,
    signature: row.signature ?? undefined,
  };
}

function toSource({ source_kind: kind, code_snippet: code, source }: VersionColumns): CapabilitySource | undefined {
  if (kind === "code") return { type: "code", code: code ?? "" };
  return kind === "server" ? undefined : (source ?? undefined);
}
