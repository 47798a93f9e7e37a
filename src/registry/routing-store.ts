import { type RawBuilder, sql } from "kysely";
import type { Db } from "../db/client.ts";
import type { Routing } from "./record.ts";
import type { Scope } from "./scope.ts";

/** A transaction that began before a read may commit after it, so each read overlaps the previous one. */
const OVERLAP_SECONDS = 10;

export interface RecordChanges {
  /** Clock of the database. */
  readonly readAt: Date;
  readonly ids: readonly string[];
}

/** Lists capabilities changed since then and all their callers; returns no ids if `since` is undefined. */
export async function listChanged(db: Db, { org, project }: Scope, since: Date | undefined): Promise<RecordChanges> {
  const from = sql`${since ?? null}::timestamptz - make_interval(secs => ${OVERLAP_SECONDS})`;
  const { rows } = await sql<{ read_at: Date; ids: string[] }>`
    WITH RECURSIVE changed (id) AS (
      SELECT r.id FROM capability_records r WHERE r.org = ${org} AND r.project = ${project} AND r.updated_at > ${from}
      UNION SELECT d.from_record_id FROM capability_dependency d WHERE d.org = ${org} AND d.created_at > ${from}
      UNION SELECT d.from_record_id FROM changed JOIN capability_dependency d ON d.org = ${org} AND d.to_record_id = changed.id)
    SELECT clock_timestamp() AS read_at, ARRAY(SELECT id::text FROM changed) AS ids`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the query for changed records returned no row");
  return { readAt: row.read_at, ids: row.ids };
}

/** CTE of capabilities with inherited routing, each with everything it calls; `ids` restricts the roots. */
function reachedFrom({ org, project }: Scope, ids: readonly string[] | undefined): RawBuilder<unknown> {
  const wanted = ids === undefined ? sql`true` : sql`r.id = ANY(${[...ids]}::uuid[])`;
  return sql`reached (id, calls) AS (
      SELECT r.id, r.id FROM capability_records r
      WHERE r.org = ${org} AND r.project = ${project} AND r.record_type = 'capability' AND NOT r.routing_explicit
        AND r.deleted_at IS NULL AND ${wanted}
      UNION
      SELECT reached.id, d.to_record_id FROM reached
      JOIN capability_records r ON r.org = ${org} AND r.id = reached.calls
      JOIN capability_dependency d ON d.org = r.org AND d.from_record_id = r.id AND d.from_version = r.version)`;
}

/** Lists tools that capabilities of the scope call, directly or through others; `ids` restricts the roots. */
export async function listUsedTools(db: Db, scope: Scope, ids: readonly string[] | undefined): Promise<string[]> {
  const { rows } = await sql<{ tool: string }>`
    WITH RECURSIVE ${reachedFrom(scope, ids)}
    SELECT DISTINCT unnest(v.tools_used) AS tool FROM (SELECT DISTINCT calls FROM reached) AS each
    JOIN capability_records r ON r.org = ${scope.org} AND r.id = each.calls
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = r.version`.execute(db);
  return rows.map(({ tool }) => tool);
}

/**
 * Sets inherited routings: local if any tool in reach is local, cloud otherwise; leaves explicit ones. Returns the
 * number of changed records.
 */
export async function inheritRoutings(
  db: Db,
  scope: Scope,
  { localTools, ids }: { readonly localTools: readonly string[]; readonly ids: readonly string[] | undefined },
): Promise<number> {
  const { org } = scope;
  const { numAffectedRows } = await sql`
    WITH RECURSIVE ${reachedFrom(scope, ids)},
    inherited AS (
      SELECT reached.id, CASE WHEN bool_or(v.tools_used && ${[...localTools]}::text[]) THEN 'local' ELSE 'cloud' END AS routing
      FROM reached
      JOIN capability_records r ON r.org = ${org} AND r.id = reached.calls
      JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = r.version
      GROUP BY reached.id)
    UPDATE capability_records r SET routing = inherited.routing FROM inherited
    WHERE r.org = ${org} AND r.id = inherited.id AND r.routing IS DISTINCT FROM inherited.routing`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Sets the routing; undefined makes it inherited again. */
export async function setExplicitRouting(
  db: Db,
  { org }: Scope,
  { id, routing }: { readonly id: string; readonly routing: Routing | undefined },
): Promise<void> {
  await db
    .updateTable("capability_records")
    .set({
      routing_explicit: routing !== undefined,
      ...(routing === undefined ? {} : { routing }),
      updated_at: sql`now()`,
    })
    .where("org", "=", org)
    .where("id", "=", id)
    .execute();
}
