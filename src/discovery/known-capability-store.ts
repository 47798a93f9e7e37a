import { CAPABILITY_PREFIX } from "../catalogue/tool-id.ts";
import { sql } from "kysely";
import type { StaticStructure } from "../analysis/structure.ts";
import type { Asker } from "../registry/scope.ts";
import { foreignAuthor } from "../registry/visibility.ts";
import type { Db } from "../db/client.ts";
import type { JsonObject, JsonSchema } from "../base/json.ts";
import { stripInvisible } from "../base/visible.ts";
import type { PastRun } from "./recall/fill-arguments.ts";
import type { Tally } from "./track-record.ts";
import { SHOWN_DESCRIPTION } from "../registry/record-store.ts";
import { showDescription } from "../registry/record-texts.ts";

/** A capability with its statistics, for suggestions. */
export interface KnownCapability {
  readonly id: string;
  readonly name: string;
  /** Set if somebody else than the reader made it. */
  readonly author: string | undefined;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly toolsUsed: readonly string[];
  readonly usageCount: number;
  readonly successCount: number;
  /** Runs that PML saw itself; feedback is not among them. */
  readonly observed: Tally;
  /** Schema inferred from its results. */
  readonly outputSchema: JsonSchema | undefined;
  readonly structure: StaticStructure;
  /** The most frequent path of its runs. */
  readonly dominantPath: readonly string[] | undefined;
}

export async function readKnownCapabilities(
  db: Db,
  { scope: { org, project }, principal }: Asker,
  ids: readonly string[],
): Promise<KnownCapability[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{
    id: string;
    display_name: string;
    author: string | null;
    description: string | null;
    parameters_schema: JsonSchema | null;
    tools_used: string[];
    structure: StaticStructure;
    usage_count: number | null;
    success_count: number | null;
    uses: number | null;
    successes: number | null;
    output: JsonSchema | null;
    path: string[] | null;
  }>`
    SELECT r.id, r.display_name, ${foreignAuthor({ principal })} AS author, ${SHOWN_DESCRIPTION} AS description, v.parameters_schema, v.tools_used, v.structure, s.usage_count, s.success_count,
      t.uses, t.successes, o.schema AS output,
      (SELECT path FROM capability_path p WHERE p.org = r.org AND p.record_id = r.id AND p.version = r.version
        ORDER BY count DESC, path_key LIMIT 1) AS path
    FROM capability_records r
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = r.version
    LEFT JOIN capability_stat s ON s.org = r.org AND s.record_id = r.id
    LEFT JOIN discovery_tally t ON t.org = r.org AND t.project = ${project} AND t.subject = ${CAPABILITY_PREFIX} || r.id::text
      AND t.tag = ''
    LEFT JOIN output_schema o ON o.org = r.org AND o.project = ${project} AND o.subject = ${CAPABILITY_PREFIX} || r.id::text
    WHERE r.org = ${org} AND r.id = ANY(${[...ids]}::uuid[])`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    name: row.display_name,
    author: row.author === null ? undefined : stripInvisible(row.author),
    description: showDescription(row.description ?? ""),
    parameters: row.parameters_schema ?? {},
    toolsUsed: row.tools_used,
    usageCount: row.usage_count ?? 0,
    successCount: row.success_count ?? 0,
    observed: { uses: row.uses ?? 0, successes: row.successes ?? 0 },
    outputSchema: row.output ?? undefined,
    structure: row.structure,
    dominantPath: row.path ?? undefined,
  }));
}

/** Runs read per capability. */
const RUNS_KEPT = 20;

/** Reads the latest successful runs of a principal, by record. Values of other principals are none of its business. */
export async function readPastRuns(
  db: Db,
  { scope: { org, project }, principal }: Asker,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly PastRun[]>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ record_id: string; intent: string; input: JsonObject | null }>`
    SELECT record_id, intent, input FROM unnest(${[...ids]}::uuid[]) AS wanted(id), LATERAL (
      SELECT record_id, intent, input FROM execution_run
      WHERE org = ${org} AND project = ${project} AND record_id = wanted.id AND principal = ${principal}
        AND state = 'succeeded' AND parent_run_id IS NULL
      ORDER BY created_at DESC LIMIT ${RUNS_KEPT}) r`.execute(db);
  const runs = Map.groupBy(rows, ({ record_id: id }) => id);
  return new Map(
    [...runs].map(([id, all]) => [id, all.map(({ intent, input }) => ({ intent, args: input ?? {} }))] as const),
  );
}
