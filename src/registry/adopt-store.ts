import { formatCapabilityId } from "../catalogue/tool-id.ts";
import { sql } from "kysely";
import type { Tx } from "../db/client.ts";
import type { Scope } from "./scope.ts";

export interface Adoption {
  /** Id of a record that has a single version. */
  readonly from: string;
  /** The record and version that `from` became. */
  readonly to: string;
  readonly version: number;
}

/** Moves runs, traces, statistics, dependencies, edges and aliases of one record to a version of another. */
export async function moveLearned(tx: Tx, { org, project }: Scope, { from, to, version }: Adoption): Promise<void> {
  for (const table of [
    "execution_run",
    "execution_trace",
    "capability_path",
    "capability_decision",
    "capability_permission_set",
  ]) {
    await sql`UPDATE ${sql.table(table)} SET record_id = ${to}, version = ${version}
      WHERE org = ${org} AND record_id = ${from}`.execute(tx);
  }
  await sql`
    UPDATE capability_stat s SET usage_count = s.usage_count + f.usage_count, success_count = s.success_count + f.success_count,
      total_latency_ms = s.total_latency_ms + f.total_latency_ms, last_used_at = greatest(s.last_used_at, f.last_used_at)
    FROM capability_stat f WHERE s.org = ${org} AND s.record_id = ${to} AND f.org = ${org} AND f.record_id = ${from}`.execute(
    tx,
  );
  await sql`DELETE FROM capability_stat WHERE org = ${org} AND record_id = ${from}`.execute(tx);
  await sql`
    INSERT INTO capability_dependency (org, from_record_id, from_version, to_record_id, to_version, edge_type, observed_count)
    SELECT org, ${to}, ${version}, to_record_id, to_version, edge_type, observed_count FROM capability_dependency
    WHERE org = ${org} AND from_record_id = ${from} AND to_record_id <> ${to} ON CONFLICT DO NOTHING`.execute(tx);
  await sql`DELETE FROM capability_dependency WHERE org = ${org} AND from_record_id = ${from}`.execute(tx);
  await moveEdges(tx, { org, project }, { from: formatCapabilityId(from), to: formatCapabilityId(to) });
  await sql`UPDATE capability_aliases SET record_id = ${to} WHERE org = ${org} AND record_id = ${from}`.execute(tx);
}

async function moveEdges(tx: Tx, { org, project }: Scope, { from, to }: { from: string; to: string }): Promise<void> {
  await sql`
    INSERT INTO tool_edge AS e (org, project, from_id, to_id, edge_type, source, observed_count)
    SELECT org, project, CASE from_id WHEN ${from} THEN ${to} ELSE from_id END, CASE to_id WHEN ${from} THEN ${to} ELSE to_id END,
      edge_type, source, observed_count
    FROM tool_edge WHERE org = ${org} AND project = ${project} AND (from_id = ${from} OR to_id = ${from})
    ON CONFLICT (org, project, from_id, to_id, edge_type) DO UPDATE SET observed_count = e.observed_count + excluded.observed_count`.execute(
    tx,
  );
  await sql`DELETE FROM tool_edge WHERE org = ${org} AND project = ${project} AND (from_id = ${from} OR to_id = ${from})`.execute(
    tx,
  );
}
