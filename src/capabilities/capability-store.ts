import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db, Tx } from "../db/client.ts";
import type { JsonSchema, JsonValue } from "../json.ts";
import type { CachePolicy, Capability, CapabilitySource, DagStructure } from "./capability.ts";
import { formatFqdn, type Naming } from "./fqdn.ts";
import type { Scope } from "./scope.ts";

export interface NewCapability {
  readonly naming: Naming;
  readonly source: CapabilitySource;
  readonly sourceHash: string;
  readonly parameters: JsonSchema;
  readonly structure: JsonValue;
  readonly toolsUsed: readonly string[];
  readonly description?: string;
  readonly tags?: readonly string[];
}

export async function findCapabilityBySource(
  db: Db | Tx,
  scope: Scope,
  sourceHash: string,
): Promise<Capability | undefined> {
  const { rows } = await sql<CapabilityRow>`
    SELECT ${CAPABILITY_COLUMNS} FROM capability_source s
    JOIN capability_records r ON r.org = s.org AND r.id = s.record_id
    JOIN capability_versions v ON v.org = s.org AND v.record_id = s.record_id AND v.version = s.version
    WHERE s.org = ${scope.org} AND s.project = ${scope.project} AND s.source_hash = ${sourceHash}
      AND r.deleted_at IS NULL`.execute(db);
  return rows[0] && toCapability(rows[0]);
}

/** By display name, FQDN, or an alias of either, in this order. */
export async function findCapabilityByName(db: Db | Tx, scope: Scope, name: string): Promise<Capability | undefined> {
  const { rows } = await sql<CapabilityRow>`
    WITH named AS (
      SELECT id, 1 AS rank FROM capability_records
        WHERE org = ${scope.org} AND project = ${scope.project} AND display_name = ${name} AND deleted_at IS NULL
      UNION ALL SELECT id, 2 FROM capability_records
        WHERE org = ${scope.org} AND project = ${scope.project} AND fqdn = ${name} AND deleted_at IS NULL
      UNION ALL SELECT record_id, 3 FROM capability_aliases
        WHERE org = ${scope.org} AND project = ${scope.project} AND alias = ${name})
    SELECT ${CAPABILITY_COLUMNS} FROM named
    JOIN capability_records r ON r.org = ${scope.org} AND r.id = named.id AND r.deleted_at IS NULL
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = r.version
    ORDER BY named.rank LIMIT 1`.execute(db);
  return rows[0] && toCapability(rows[0]);
}

export async function findCapabilityById(
  db: Db | Tx,
  { org }: Scope,
  { id, version }: { readonly id: string; readonly version?: number },
): Promise<Capability | undefined> {
  const { rows } = await sql<CapabilityRow>`
    SELECT ${CAPABILITY_COLUMNS} FROM capability_records r
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = ${version ?? sql.ref("r.version")}
    WHERE r.org = ${org} AND r.id = ${id}`.execute(db);
  return rows[0] && toCapability(rows[0]);
}

/** Names in scope, for answers to a name that does not exist. */
export async function listCapabilityNames(db: Db, { org, project }: Scope): Promise<string[]> {
  const rows = await db
    .selectFrom("capability_records")
    .select("display_name")
    .where("org", "=", org)
    .where("project", "=", project)
    .where("state", "=", "active")
    .where("deleted_at", "is", null)
    .execute();
  return rows.map(({ display_name: name }) => name);
}

/** Makes a draft of it. Whoever comes second with the same program in the same scope gets the first one's. */
export async function insertCapability(tx: Tx, scope: Scope, wanted: NewCapability): Promise<Capability> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${scope.org}/${scope.project}/${wanted.sourceHash}`}, 0))`.execute(
    tx,
  );
  const existing = await findCapabilityBySource(tx, scope, wanted.sourceHash);
  if (existing !== undefined) return existing;
  const id = newId();
  await insertRecord(tx, scope, { id, wanted });
  await insertVersion(tx, scope, { id, wanted });
  await tx
    .insertInto("capability_source")
    .values({ ...scope, source_hash: wanted.sourceHash, record_id: id, version: 1 })
    .onConflict((conflict) =>
      conflict.columns(["org", "project", "source_hash"]).doUpdateSet({ record_id: id, version: 1 }),
    )
    .execute();
  await tx.insertInto("capability_stat").values({ org: scope.org, record_id: id }).execute();
  const created = await findCapabilityBySource(tx, scope, wanted.sourceHash);
  if (created === undefined) throw new Error(`capability ${id} was inserted and is not there`);
  return created;
}

const SHORTEST_HASH = 4;
const LONGEST_HASH = 64;

async function insertRecord(
  tx: Tx,
  scope: Scope,
  { id, wanted }: { readonly id: string; readonly wanted: NewCapability },
): Promise<void> {
  const { naming, sourceHash, description, tags = [] } = wanted;
  for (let length = SHORTEST_HASH; length <= LONGEST_HASH; length *= 2) {
    const hash = sourceHash.slice(0, length);
    const inserted = await tx
      .insertInto("capability_records")
      .values({
        ...scope,
        id,
        fqdn: formatFqdn({ ...scope, ...naming, hash }),
        display_name: naming.displayName,
        namespace: naming.namespace,
        action: naming.action,
        hash,
        description: description ?? null,
        tags: [...tags],
      })
      .onConflict((conflict) => conflict.columns(["org", "fqdn"]).doNothing())
      .returning("id")
      .executeTakeFirst();
    if (inserted !== undefined) return;
  }
  throw new Error(`no FQDN is free for ${naming.displayName}`);
}

async function insertVersion(
  tx: Tx,
  { org }: Scope,
  { id, wanted }: { readonly id: string; readonly wanted: NewCapability },
): Promise<void> {
  const { source } = wanted;
  await tx
    .insertInto("capability_versions")
    .values({
      org,
      record_id: id,
      version: 1,
      source_kind: source.type,
      code_snippet: source.type === "code" ? source.code : null,
      source: source.type === "code" ? null : JSON.stringify(source),
      source_hash: wanted.sourceHash,
      structure: JSON.stringify(wanted.structure),
      parameters_schema: JSON.stringify(wanted.parameters),
      tools_used: [...wanted.toolsUsed],
    })
    .execute();
}

/** What the program calls by name; known from its text, before it ever ran. */
export async function insertDependencies(
  tx: Tx,
  { org }: Scope,
  { from, to }: { readonly from: string; readonly to: readonly string[] },
): Promise<void> {
  if (to.length === 0) return;
  await tx
    .insertInto("capability_dependency")
    .values(to.map((each) => ({ org, from_record_id: from, to_record_id: each })))
    .onConflict((conflict) => conflict.columns(["org", "from_record_id", "to_record_id"]).doNothing())
    .execute();
}

interface CapabilityRow {
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
  structure: JsonValue;
  tools_used: string[];
  description: string | null;
  cache_policy: CachePolicy | null;
  ttl_seconds: number | null;
}

const CAPABILITY_COLUMNS = sql`r.id, v.version, r.display_name, r.fqdn, r.state, v.source_kind, v.code_snippet, v.source,
  v.source_hash, v.parameters_schema, v.structure, v.tools_used, r.description, r.cache_policy, r.ttl_seconds`;

function toCapability(row: CapabilityRow): Capability {
  return {
    id: row.id,
    version: row.version,
    displayName: row.display_name,
    fqdn: row.fqdn,
    state: row.state,
    source:
      row.source_kind === "code" ? { type: "code", code: row.code_snippet ?? "" } : (row.source as CapabilitySource),
    sourceHash: row.source_hash,
    parameters: row.parameters_schema,
    structure: row.structure,
    toolsUsed: row.tools_used,
    description: row.description ?? undefined,
    cachePolicy: row.cache_policy ?? "none",
    ttlSeconds: row.ttl_seconds ?? undefined,
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

/** Names of what a capability calls. */
export async function listDependencies(db: Db, { org }: Scope, id: string): Promise<string[]> {
  const rows = await db
    .selectFrom("capability_dependency as d")
    .innerJoin("capability_records as r", (join) =>
      join.onRef("r.org", "=", "d.org").onRef("r.id", "=", "d.to_record_id"),
    )
    .select("r.display_name")
    .where("d.org", "=", org)
    .where("d.from_record_id", "=", id)
    .orderBy("r.display_name")
    .execute();
  return rows.map(({ display_name: name }) => name);
}
