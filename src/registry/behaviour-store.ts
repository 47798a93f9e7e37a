import { sql } from "kysely";
import type { Db, Tx } from "../db/client.ts";
import type { Capability } from "./capability.ts";
import { findCapabilityById } from "./capability-store.ts";
import type { Asker, Scope } from "./scope.ts";
import { visibleTo } from "./visibility.ts";

/** More variants of one behaviour are not tried: each costs a replay. */
const MOST_NOMINEES = 5;

/** Finds the programs with this behaviour among the records the caller may see, the most used first. */
export async function findNominees(db: Db, asker: Asker, key: string): Promise<Capability[]> {
  const { org, project } = asker.scope;
  const { rows } = await sql<{ id: string; version: number }>`
    SELECT r.id, v.version FROM capability_versions v
    JOIN capability_records r ON r.org = v.org AND r.id = v.record_id AND r.version = v.version
    LEFT JOIN capability_stat s ON s.org = r.org AND s.record_id = r.id
    WHERE v.org = ${org} AND v.behaviour_key = ${key} AND v.source_kind = 'code' AND r.project = ${project}
      AND r.state = 'active' AND r.deleted_at IS NULL AND ${visibleTo(asker)}
    ORDER BY s.usage_count DESC NULLS LAST, r.created_at LIMIT ${MOST_NOMINEES}`.execute(db);
  const found = await Promise.all(rows.map((row) => findCapabilityById(db, asker.scope, row)));
  return found.filter((each) => each !== undefined);
}

/** Puts the records that have the same of these behaviours, in any version, into one group. */
export async function joinGroups(tx: Tx, { org, project }: Scope, keys: readonly string[]): Promise<void> {
  await sql`
    WITH alike AS (
      SELECT DISTINCT v.behaviour_key AS key, r.id, r.group_id, r.created_at FROM capability_versions v
      JOIN capability_records r ON r.org = v.org AND r.id = v.record_id
      WHERE v.org = ${org} AND v.behaviour_key = ANY(${[...keys]}) AND r.project = ${project} AND r.deleted_at IS NULL),
    chosen AS (
      SELECT key, (array_agg(coalesce(group_id, id) ORDER BY group_id IS NULL, created_at, id))[1] AS id
      FROM alike GROUP BY key HAVING count(*) > 1)
    UPDATE capability_records r SET group_id = chosen.id FROM alike JOIN chosen USING (key)
    WHERE r.org = ${org} AND r.id = alike.id AND r.group_id IS DISTINCT FROM chosen.id`.execute(tx);
}

/** The behaviours of all versions of some records. */
export async function readBehaviourKeys(tx: Tx, { org }: Scope, records: ReadonlySet<string>): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`SELECT DISTINCT behaviour_key AS key FROM capability_versions
    WHERE org = ${org} AND record_id = ANY(${[...records]}::uuid[]) AND behaviour_key IS NOT NULL`.execute(tx);
  return rows.map(({ key }) => key);
}

/** Deletes a draft that no run belongs to any more. */
export async function dropDraft(db: Db, { org }: Scope, id: string): Promise<void> {
  await sql`UPDATE capability_records r SET state = 'deleted', deleted_at = now()
    WHERE r.org = ${org} AND r.id = ${id} AND r.state = 'draft'
      AND NOT EXISTS (SELECT 1 FROM execution_run e WHERE e.org = r.org AND e.record_id = r.id)`.execute(db);
}
