import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { StaticStructure } from "../analysis/structure.ts";
import type { Db, Tx } from "../db/client.ts";
import type { JsonSchema } from "../base/json.ts";
import { authorId, introduceAgent } from "./author-store.ts";
import {
  type CachePolicy,
  type Capability,
  type CapabilitySource,
  type DagStructure,
  type PreparedSource,
  toStructure,
} from "./capability.ts";
import { formatFqdn, isUnnamed, unnamed } from "./fqdn.ts";
import type { Asker, Scope } from "./scope.ts";
import { writeVersion } from "./version-store.ts";
import { visibleTo } from "./visibility.ts";
import { SHOWN_DESCRIPTION } from "./record-store.ts";
import { fitDescription, fitTags, showDescription } from "./record-texts.ts";

export interface NewCapability extends PreparedSource {
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly versionTag?: string;
}

/** Finds the capability that has this source, or that runs of this source belong to, among those the caller may see. */
export async function findCapabilityBySource(
  db: Db | Tx,
  asker: Asker,
  sourceHash: string,
): Promise<Capability | undefined> {
  const { org, project } = asker.scope;
  const { rows } = await sql<CapabilityRow>`
    WITH holder AS (
      SELECT record_id, version, 1 AS place FROM capability_source
      WHERE org = ${org} AND project = ${project} AND source_hash = ${sourceHash}
      UNION ALL SELECT record_id, version, 2 FROM capability_versions WHERE org = ${org} AND source_hash = ${sourceHash})
    SELECT ${CAPABILITY_COLUMNS} FROM holder
    JOIN capability_versions v ON v.org = ${org} AND v.record_id = holder.record_id AND v.version = holder.version
    JOIN capability_records r ON r.org = v.org AND r.id = v.record_id
    WHERE r.project = ${project} AND r.deleted_at IS NULL AND ${visibleTo(asker)}
    ORDER BY holder.place, r.created_at, v.version DESC LIMIT 1`.execute(db);
  return rows[0] && toCapability(rows[0]);
}

export async function findCapabilityById(
  db: Db | Tx,
  { org }: Pick<Scope, "org">,
  { id, version }: { readonly id: string; readonly version?: number },
): Promise<Capability | undefined> {
  const { rows } = await sql<CapabilityRow>`
    SELECT ${CAPABILITY_COLUMNS} FROM capability_records r
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = ${version ?? sql.ref("r.version")}
    WHERE r.org = ${org} AND r.id = ${id}`.execute(db);
  return rows[0] && toCapability(rows[0]);
}

/**
 * Inserts a draft, or returns the existing capability if the scope already has one with the same source. One that is
 * `named` becomes a record of its own beside a record with another name.
 */
export async function insertCapability(
  tx: Tx,
  asker: Asker,
  wanted: NewCapability,
  { named = false }: { readonly named?: boolean } = {},
): Promise<Capability> {
  const { scope } = asker;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${scope.org}/${scope.project}/${wanted.sourceHash}`}, 0))`.execute(
    tx,
  );
  const existing = await findCapabilityBySource(tx, asker, wanted.sourceHash);
  if (existing !== undefined && (!named || isUnnamed(existing.displayName))) return existing;
  const id = newId();
  const by = authorId(asker);
  await introduceAgent(tx, asker);
  await insertDraft(tx, scope, { id, by, wanted });
  await writeVersion(tx, scope, { ...wanted, recordId: id, version: 1, by });
  await tx
    .insertInto("capability_source")
    .values({ ...scope, source_hash: wanted.sourceHash, record_id: id, version: 1 })
    .onConflict((conflict) => {
      const known = conflict.columns(["org", "project", "source_hash"]);
      return existing === undefined ? known.doUpdateSet({ record_id: id, version: 1 }) : known.doNothing();
    })
    .execute();
  await tx.insertInto("capability_stat").values({ org: scope.org, record_id: id }).execute();
  const created = await findCapabilityById(tx, scope, { id });
  if (created === undefined) throw new Error(`capability ${id} was inserted but cannot be read`);
  return created;
}

const SHORTEST_HASH = 4;
const LONGEST_HASH = 64;

/** Names a draft after its source hash, with a longer prefix if another draft has the same one. */
async function insertDraft(
  tx: Tx,
  scope: Scope,
  { id, by, wanted }: { readonly id: string; readonly by: string | null; readonly wanted: NewCapability },
): Promise<void> {
  const { sourceHash, toolsUsed, description, tags = [], versionTag } = wanted;
  for (let length = SHORTEST_HASH; length <= LONGEST_HASH; length *= 2) {
    const hash = sourceHash.slice(0, length);
    const { displayName, namespace, action } = unnamed(sourceHash, toolsUsed, 2 * length);
    const inserted = await tx
      .insertInto("capability_records")
      .values({
        ...scope,
        id,
        fqdn: formatFqdn({ ...scope, namespace, action, hash }),
        display_name: displayName,
        namespace,
        action,
        hash,
        version_tag: versionTag ?? null,
        description: description === undefined ? null : fitDescription(description),
        tags: fitTags(tags),
        created_by: by,
        updated_by: by,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning("id")
      .executeTakeFirst();
    if (inserted !== undefined) return;
  }
  throw new Error(`no name is free for the program ${sourceHash}`);
}

interface CapabilityRow {
  org: string;
  project: string;
  id: string;
  version: number;
  display_name: string;
  fqdn: string;
  state: Capability["state"];
  source_kind: "code" | "dag" | "tool";
  code_snippet: string | null;
  source: { dagStructure?: DagStructure; toolId?: string } | null;
  source_hash: string;
  parameters_schema: JsonSchema;
  structure: Partial<StaticStructure> | null;
  tools_used: string[];
  description: string | null;
  cache_policy: CachePolicy | null;
  ttl_seconds: number | null;
  pins: Record<string, number> | null;
}

const CAPABILITY_COLUMNS = sql`r.org, r.project, r.id, v.version, r.display_name, r.fqdn, r.state, v.source_kind, v.code_snippet, v.source,
  v.source_hash, v.parameters_schema, v.structure, v.tools_used, ${SHOWN_DESCRIPTION} AS description, r.cache_policy, r.ttl_seconds,
  (SELECT jsonb_object_agg(d.to_record_id, d.to_version) FROM capability_dependency d
    WHERE d.org = r.org AND d.from_record_id = r.id AND d.from_version = v.version AND d.to_version IS NOT NULL) AS pins`;

function toCapability(row: CapabilityRow): Capability {
  return {
    id: row.id,
    scope: { org: row.org, project: row.project },
    version: row.version,
    displayName: row.display_name,
    fqdn: row.fqdn,
    state: row.state,
    source:
      row.source_kind === "code" ? { type: "code", code: row.code_snippet ?? "" } : (row.source as CapabilitySource),
    sourceHash: row.source_hash,
    parameters: row.parameters_schema,
    structure: toStructure(row.structure),
    toolsUsed: row.tools_used,
    description: row.description === null ? undefined : showDescription(row.description),
    cachePolicy: row.cache_policy ?? "none",
    ttlSeconds: row.ttl_seconds ?? undefined,
    pins: row.pins ?? {},
  };
}

export interface CapabilityUsage {
  readonly count: number;
  readonly successes: number;
}

export async function readUsage(db: Db, { org }: Scope, id: string): Promise<CapabilityUsage> {
  const row = await db
    .selectFrom("capability_stat")
    .select(["usage_count", "success_count"])
    .where("org", "=", org)
    .where("record_id", "=", id)
    .executeTakeFirst();
  return { count: row?.usage_count ?? 0, successes: row?.success_count ?? 0 };
}

/** Display names of the capabilities that a capability calls. */
export async function listDependencies(db: Db, { org }: Scope, id: string): Promise<string[]> {
  const rows = await db
    .selectFrom("capability_dependency as d")
    .innerJoin("capability_records as r", (join) =>
      join.onRef("r.org", "=", "d.org").onRef("r.id", "=", "d.to_record_id"),
    )
    .select("r.display_name")
    .distinct()
    .where("d.org", "=", org)
    .where("d.from_record_id", "=", id)
    .orderBy("r.display_name")
    .execute();
  return rows.map(({ display_name: name }) => name);
}
