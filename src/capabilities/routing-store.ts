import { sql } from "kysely";
import type { Db } from "../db/client.ts";
import type { Routing } from "./record.ts";
import type { Scope } from "./scope.ts";

/** Every tool that a capability of the scope calls, whether itself or through another. */
export async function listUsedTools(db: Db, { org }: Scope): Promise<string[]> {
  const { rows } = await sql<{ tool: string }>`
    SELECT DISTINCT unnest(v.tools_used) AS tool FROM capability_records r
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = r.version
    WHERE r.org = ${org} AND r.record_type = 'capability' AND r.deleted_at IS NULL`.execute(db);
  return rows.map(({ tool }) => tool);
}

/**
 * Local if any tool is, also through what it calls, and cloud otherwise; where somebody said it, that
 * stays. Returns how many records changed.
 */
export async function inheritRoutings(db: Db, { org, project }: Scope, localTools: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`
    WITH RECURSIVE reached (id, calls) AS (
      SELECT r.id, r.id FROM capability_records r
      WHERE r.org = ${org} AND r.project = ${project} AND r.record_type = 'capability' AND NOT r.routing_explicit
        AND r.deleted_at IS NULL
      UNION
      SELECT reached.id, d.to_record_id FROM reached
      JOIN capability_records r ON r.org = ${org} AND r.id = reached.calls
      JOIN capability_dependency d ON d.org = r.org AND d.from_record_id = r.id AND d.from_version = r.version),
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

/** undefined: inherited again. */
export async function setExplicitRouting(
  db: Db,
  { org }: Scope,
  { id, routing }: { readonly id: string; readonly routing: Routing | undefined },
): Promise<void> {
  await db
    .updateTable("capability_records")
    .set({ routing_explicit: routing !== undefined, ...(routing === undefined ? {} : { routing }) })
    .where("org", "=", org)
    .where("id", "=", id)
    .execute();
}
