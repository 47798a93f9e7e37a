import { type RawBuilder, sql } from "kysely";
import type { StaticStructure, StructureNode } from "../analysis/structure.ts";
import type { JsonValue } from "../base/json.ts";
import { CAPABILITY_PREFIX, formatCapabilityId } from "../catalogue/tool-id.ts";
import type { Tx } from "../db/client.ts";
import type { Scope } from "../registry/scope.ts";
import { type GraphEdge, insertInferredEdges } from "./edge-store.ts";
import { observedEdges, structureEdges } from "./observed-edges.ts";
import { inferSchema, type InferredSchema, mergeSchemas } from "./output-schema.ts";

/**
 * Learns from the runs of an import as from runs that happened here. A file's own statistics count for nothing: they
 * could claim any number of uses.
 */
export async function learnFromImport(tx: Tx, scope: Scope, at: Date): Promise<void> {
  const runs = importedRuns(scope, at);
  await countRuns(tx, runs);
  await countPaths(tx, runs);
  await countUses(tx, runs, scope);
  await drawEdges(tx, runs, scope);
  await inferShapes(tx, runs, scope);
}

/** The runs of an import with their traces; a cancelled run is no evidence about its program. */
function importedRuns({ org, project }: Scope, at: Date): RawBuilder<unknown> {
  return sql`execution_run r JOIN execution_trace t ON t.org = r.org AND t.run_id = r.id
    AND r.org = ${org} AND r.project = ${project} AND r.imported_at = ${at} AND r.state <> 'cancelled'`;
}

async function countRuns(tx: Tx, runs: RawBuilder<unknown>): Promise<void> {
  await sql`
    INSERT INTO capability_stat AS s (org, record_id, usage_count, success_count, total_latency_ms, last_used_at)
    SELECT r.org, r.record_id, count(*), count(*) FILTER (WHERE t.success), sum(t.duration_ms::bigint), max(r.finished_at)
    FROM ${runs} GROUP BY r.org, r.record_id
    ON CONFLICT (org, record_id) DO UPDATE SET usage_count = s.usage_count + excluded.usage_count,
      success_count = s.success_count + excluded.success_count,
      total_latency_ms = s.total_latency_ms + excluded.total_latency_ms,
      last_used_at = greatest(s.last_used_at, excluded.last_used_at)`.execute(tx);
}

async function countPaths(tx: Tx, runs: RawBuilder<unknown>): Promise<void> {
  await sql`
    INSERT INTO capability_path AS s (org, record_id, version, path_key, path, count, success_count, total_ms, last_at)
    SELECT r.org, r.record_id, r.version, md5(t.executed_path::text),
      ARRAY(SELECT jsonb_array_elements_text(t.executed_path)), count(*), count(*) FILTER (WHERE t.success),
      sum(t.duration_ms), max(r.finished_at)
    FROM ${runs} GROUP BY r.org, r.record_id, r.version, t.executed_path
    ON CONFLICT (org, record_id, version, path_key) DO UPDATE SET count = s.count + excluded.count,
      success_count = s.success_count + excluded.success_count, total_ms = s.total_ms + excluded.total_ms,
      last_at = greatest(s.last_at, excluded.last_at)`.execute(tx);
  await sql`
    INSERT INTO capability_decision AS s (org, record_id, version, node_id, outcome, count, success_count)
    SELECT r.org, r.record_id, r.version, d ->> 'nodeId', d ->> 'outcome', count(*), count(*) FILTER (WHERE t.success)
    FROM ${runs} CROSS JOIN jsonb_array_elements(t.decisions) AS d
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (org, record_id, version, node_id, outcome) DO UPDATE SET count = s.count + excluded.count,
      success_count = s.success_count + excluded.success_count`.execute(tx);
}

/** Counts a capability with each run, and a tool with each call, if it is one that the program's text calls. */
async function countUses(tx: Tx, runs: RawBuilder<unknown>, { org, project }: Scope): Promise<void> {
  const uses = sql`
    SELECT r.id, ${CAPABILITY_PREFIX}::text || r.record_id::text AS subject, 1::bigint AS uses, t.success::int::bigint AS successes
      FROM ${runs}
    UNION ALL SELECT r.id, c ->> 'tool', count(*), count(*) FILTER (WHERE c ->> 'status' = 'success')
      FROM ${runs} JOIN capability_versions v ON v.org = r.org AND v.record_id = r.record_id AND v.version = r.version
      CROSS JOIN jsonb_array_elements(t.task_summaries) AS c
      WHERE c ->> 'kind' = 'tool' AND c ->> 'status' <> 'unfinished' AND c ->> 'tool' = ANY(v.tools_used)
      GROUP BY r.id, c ->> 'tool'`;
  // The empty tag counts uses in every context.
  const tags = sql`(SELECT '' UNION SELECT jsonb_array_elements_text(coalesce(r.options -> 'contextTags', '[]')))`;
  await sql`
    WITH u AS (${uses})
    INSERT INTO discovery_tally AS s (org, project, subject, tag, uses, successes)
    SELECT ${org}, ${project}, u.subject, tag, sum(u.uses), sum(u.successes)
    FROM u JOIN execution_run r ON r.org = ${org} AND r.id = u.id CROSS JOIN LATERAL ${tags} AS tags(tag)
    GROUP BY u.subject, tag
    ON CONFLICT (org, project, subject, tag) DO UPDATE SET uses = s.uses + excluded.uses,
      successes = s.successes + excluded.successes, changed_at = clock_timestamp()`.execute(tx);
  await sql`
    WITH u AS (${uses})
    INSERT INTO discovery_intent AS s (org, project, subject, intent_hash, intent, uses)
    SELECT ${org}, ${project}, u.subject, md5(r.intent), r.intent, count(*)
    FROM u JOIN execution_run r ON r.org = ${org} AND r.id = u.id
    WHERE r.state = 'succeeded' AND r.intent <> '' AND u.successes > 0 GROUP BY u.subject, r.intent
    ON CONFLICT (org, project, subject, intent_hash) DO UPDATE SET uses = s.uses + excluded.uses,
      changed_at = clock_timestamp()`.execute(tx);
}

interface PathRow {
  readonly record_id: string;
  readonly version: number;
  readonly path: readonly string[];
  readonly count: number;
  readonly structure: StaticStructure | null;
  readonly called: Readonly<Record<string, string>> | null;
}

const CAPABILITIES_AT_ONCE = 200;

/** Draws the graph from the structures of the programs, along the paths of their runs. */
async function drawEdges(tx: Tx, runs: RawBuilder<unknown>, scope: Scope): Promise<void> {
  const { rows } = await sql<{ record_id: string }>`SELECT DISTINCT r.record_id FROM ${runs}`.execute(tx);
  const ids = rows.map((row) => row.record_id);
  for (let start = 0; start < ids.length; start += CAPABILITIES_AT_ONCE)
    await drawEdgesOf(tx, { runs, scope, ids: ids.slice(start, start + CAPABILITIES_AT_ONCE) });
}

interface EdgeJob {
  readonly runs: RawBuilder<unknown>;
  readonly scope: Scope;
  readonly ids: readonly string[];
}

async function drawEdgesOf(tx: Tx, { runs, scope, ids }: EdgeJob): Promise<void> {
  const { rows } = await sql<PathRow>`
    SELECT p.*, v.structure, (SELECT jsonb_object_agg(c.display_name, c.id) FROM capability_dependency d
        JOIN capability_records c ON c.org = d.org AND c.id = d.to_record_id
        WHERE d.org = v.org AND d.from_record_id = v.record_id AND d.from_version = v.version) AS called
    FROM (SELECT r.org, r.record_id, r.version, t.executed_path AS path, count(*) AS count FROM ${runs}
        WHERE r.record_id = ANY(${[...ids]}::uuid[]) GROUP BY 1, 2, 3, 4) AS p
    JOIN capability_versions v ON v.org = p.org AND v.record_id = p.record_id AND v.version = p.version`.execute(tx);
  const counted = new Map<string, { edge: GraphEdge; count: number }>();
  const inferred = new Map<string, GraphEdge>();
  for (const { record_id: id, path, count, structure, called } of rows) {
    if (structure === null) continue;
    for (const edge of edgesOf(id, structure, { path, called: called ?? {} })) {
      const key = JSON.stringify(edge);
      counted.set(key, { edge, count: (counted.get(key)?.count ?? 0) + count });
    }
    for (const edge of structureEdges(structure, subjectsIn(called ?? {}))) inferred.set(JSON.stringify(edge), edge);
  }
  await insertInferredEdges(tx, scope, [...inferred.values()]);
  await addObserved(tx, scope, [...counted.values()]);
}

function subjectsIn(called: Readonly<Record<string, string>>): (node: StructureNode) => string | undefined {
  return (node) => {
    if (node.type === "task") return node.tool;
    const id = node.type === "capability" ? called[node.capability] : undefined;
    return id === undefined ? undefined : formatCapabilityId(id);
  };
}

function edgesOf(
  id: string,
  structure: StaticStructure,
  { path, called }: { readonly path: readonly string[]; readonly called: Readonly<Record<string, string>> },
): GraphEdge[] {
  const subjectOf = subjectsIn(called);
  const visited = new Set(path);
  const from = formatCapabilityId(id);
  const used = new Set(structure.nodes.flatMap((node) => (visited.has(node.id) ? (subjectOf(node) ?? []) : [])));
  used.delete(from);
  const contains = [...used].map((to): GraphEdge => ({ from, to, type: "contains" }));
  return [...observedEdges(structure, path, subjectOf), ...contains];
}

async function addObserved(
  tx: Tx,
  { org, project }: Scope,
  edges: readonly { readonly edge: GraphEdge; readonly count: number }[],
): Promise<void> {
  const rows = edges.map(({ edge, count }) => ({ from_id: edge.from, to_id: edge.to, type: edge.type, count }));
  await sql`
    INSERT INTO tool_edge AS s (org, project, from_id, to_id, edge_type, source, observed_count)
    SELECT ${org}, ${project}, e.from_id, e.to_id, e.type, 'observed', e.count
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS e(from_id text, to_id text, type text, count bigint)
    ON CONFLICT (org, project, from_id, to_id, edge_type) DO UPDATE SET
      observed_count = s.observed_count + excluded.observed_count, source = 'observed', last_at = now()`.execute(tx);
}

/** Enough results to know the shape of one capability's. */
const RESULTS_PER_CAPABILITY = 5;
const LONGEST_RESULT = 64 * 1024;

async function inferShapes(tx: Tx, runs: RawBuilder<unknown>, { org, project }: Scope): Promise<void> {
  const { rows } = await sql<{ record_id: string; results: JsonValue[] }>`
    SELECT record_id, jsonb_agg(result) AS results FROM (
      SELECT r.record_id, r.result, row_number() OVER (PARTITION BY r.record_id ORDER BY r.created_at DESC, r.id) AS place
      FROM ${runs} WHERE r.state = 'succeeded' AND r.result IS NOT NULL
        AND octet_length(r.result::text) <= ${LONGEST_RESULT}) AS newest
    WHERE place <= ${RESULTS_PER_CAPABILITY} GROUP BY record_id`.execute(tx);
  const shapes = rows.map(({ record_id: id, results }) => ({
    subject: formatCapabilityId(id),
    schema: results.map((value): InferredSchema => inferSchema(value)).reduce(mergeSchemas),
  }));
  await sql`INSERT INTO output_schema (org, project, subject, schema)
    SELECT ${org}, ${project}, s.subject, s.schema
    FROM jsonb_to_recordset(${JSON.stringify(shapes)}::jsonb) AS s(subject text, schema jsonb)
    ON CONFLICT DO NOTHING`.execute(tx);
}
