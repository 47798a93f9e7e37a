import { type RawBuilder, sql } from "kysely";
import type { Db, Tx } from "../db/client.ts";
import type { CapabilityState } from "./capability.ts";
import type { Reference } from "./names.ts";
import type { RecordType } from "./record.ts";
import { type Asker, type Scope, STANDARD_SCOPE } from "./scope.ts";
import { visibleTo } from "./visibility.ts";

/** A resolved record, without its version's content. */
export interface FoundRecord {
  readonly id: string;
  readonly scope: Scope;
  readonly recordType: RecordType;
  readonly displayName: string;
  readonly namespace: string;
  readonly action: string;
  readonly fqdn: string;
  readonly hash: string;
  readonly state: CapabilityState;
  readonly version: number;
  /** Id of the principal or agent that made it; undefined for the owner in person. */
  readonly author: string | undefined;
  /** The alias it was found by. */
  readonly alias: string | undefined;
}

interface FoundRow {
  org: string;
  project: string;
  id: string;
  record_type: RecordType;
  display_name: string;
  namespace: string;
  action: string;
  fqdn: string;
  hash: string;
  state: CapabilityState;
  version: number;
  created_by: string | null;
  alias: string | null;
}

/** Finds the first match in resolution order among the records the caller may see. */
export async function findRecord(db: Db | Tx, asker: Asker, reference: Reference): Promise<FoundRecord | undefined> {
  const { rows } = await sql<FoundRow>`
    SELECT r.org, r.project, r.id, r.record_type, r.display_name, r.namespace, r.action, r.fqdn, r.hash, r.state, r.version,
      r.created_by, m.alias
    FROM (${candidates(asker, reference)}) AS m(org, id, rank, alias)
    JOIN capability_records r ON r.org = m.org AND r.id = m.id
    WHERE r.deleted_at IS NULL AND ${visibleTo(asker)}
    ORDER BY m.rank, r.fqdn LIMIT 1`.execute(db);
  return rows[0] && toFound(rows[0]);
}

function candidates({ scope: own }: Asker, reference: Reference): RawBuilder<unknown> {
  switch (reference.kind) {
    case "id":
      return sql`SELECT ${own.org}::text, ${reference.id}::uuid, 1, NULL::text`;
    case "fqdn": {
      const { fqdn, scope } = reference;
      return sql`
        SELECT org, id, 1, NULL::text FROM capability_records WHERE org = ${scope.org} AND fqdn = ${fqdn}
        UNION ALL SELECT org, record_id, 2, alias FROM capability_aliases
          WHERE org = ${scope.org} AND project = ${scope.project} AND alias = ${fqdn} AND kind = 'fqdn'`;
    }
    case "name":
    default: {
      const { name, scope } = reference;
      const inScope = candidatesIn(scope ?? own, name);
      // Only a bare name falls back to other projects.
      if (scope !== undefined) return inScope;
      return sql`${inScope} UNION ALL
        SELECT org, id, CASE visibility WHEN 'org' THEN 3 ELSE 4 END, NULL FROM capability_records
          WHERE org = ${own.org} AND display_name = ${name} AND project <> ${own.project}
            AND visibility IN ('org', 'public') AND deleted_at IS NULL
        UNION ALL SELECT org, id, 5, NULL FROM capability_records
          WHERE org = ${STANDARD_SCOPE.org} AND project = ${STANDARD_SCOPE.project} AND display_name = ${name}
            AND record_type = 'mcp-server' AND deleted_at IS NULL`;
    }
  }
}

function candidatesIn({ org, project }: Scope, name: string): RawBuilder<unknown> {
  return sql`
    SELECT org, id, 1, NULL::text FROM capability_records
      WHERE org = ${org} AND project = ${project} AND display_name = ${name} AND deleted_at IS NULL
    UNION ALL SELECT org, record_id, 2, alias FROM capability_aliases
      WHERE org = ${org} AND project = ${project} AND alias = ${name}`;
}

/** Finds names with this action; two are enough to know it is ambiguous. */
export async function findNamesByAction(db: Db, asker: Asker, action: string): Promise<string[]> {
  const { org, project } = asker.scope;
  const { rows } = await sql<{ display_name: string }>`
    SELECT r.display_name FROM capability_records r
    WHERE r.org = ${org} AND r.project = ${project} AND r.action = ${action} AND r.deleted_at IS NULL
      AND r.state <> 'archived' AND r.record_type = 'capability' AND ${visibleTo(asker)} LIMIT 2`.execute(db);
  return rows.map(({ display_name: name }) => name);
}

const MAX_COMPARED_NAMES = 2_000;

/** Lists names of the scope to suggest in place of an unknown one. */
export async function listNames(db: Db, asker: Asker): Promise<string[]> {
  const { org, project } = asker.scope;
  const { rows } = await sql<{ display_name: string }>`
    SELECT r.display_name FROM capability_records r
    WHERE r.org = ${org} AND r.project = ${project} AND r.state = 'active' AND r.deleted_at IS NULL AND ${visibleTo(asker)}
    ORDER BY r.updated_at DESC LIMIT ${MAX_COMPARED_NAMES}`.execute(db);
  return rows.map(({ display_name: name }) => name);
}

/** Finds the record that was deleted last under this reference. */
export async function findDeleted(tx: Tx, asker: Asker, reference: Reference): Promise<FoundRecord | undefined> {
  const { org, project } = asker.scope;
  const which =
    reference.kind === "id"
      ? sql`r.id = ${reference.id}::uuid`
      : reference.kind === "fqdn"
        ? sql`r.fqdn = ${reference.fqdn}`
        : sql`r.display_name = ${reference.name}`;
  const { rows } = await sql<FoundRow>`
    SELECT r.*, NULL::text AS alias FROM capability_records r
    WHERE r.org = ${org} AND r.project = ${project} AND ${which} AND r.deleted_at IS NOT NULL AND ${visibleTo(asker)}
    ORDER BY r.deleted_at DESC LIMIT 1`.execute(tx);
  return rows[0] && toFound(rows[0]);
}

function toFound(row: FoundRow): FoundRecord {
  return {
    id: row.id,
    scope: { org: row.org, project: row.project },
    recordType: row.record_type,
    displayName: row.display_name,
    namespace: row.namespace,
    action: row.action,
    fqdn: row.fqdn,
    hash: row.hash,
    state: row.state,
    version: row.version,
    author: row.created_by ?? undefined,
    alias: row.alias ?? undefined,
  };
}
