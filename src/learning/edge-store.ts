import { type ExpressionBuilder, sql } from "kysely";
import type { Scope } from "../registry/scope.ts";
import type { Db, Tx } from "../db/client.ts";
import type { Tables } from "../db/tables.ts";
import { edgeConfidence, type EdgeSource, type EdgeType, edgeWeight } from "./edge-weights.ts";

/** An edge between tools (`server:tool`) or capabilities (`cap:` and the record's id). */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly type: EdgeType;
}

export interface EdgeStatistics extends GraphEdge {
  readonly source: EdgeSource;
  readonly observed: number;
  /** From 0 to 1. */
  readonly confidence: number;
  /** The confidence, scaled by the worth of the type. */
  readonly weight: number;
}

/** Reads edges among these tools and capabilities. */
export async function readEdges(
  db: Db,
  { org, project }: Scope,
  subjects: readonly string[],
): Promise<EdgeStatistics[]> {
  if (subjects.length === 0) return [];
  const rows = await db
    .selectFrom("tool_edge")
    .select(["from_id", "to_id", "edge_type", "source", "observed_count"])
    .where("org", "=", org)
    .where("project", "=", project)
    .where("from_id", "in", [...subjects])
    .where("to_id", "in", [...subjects])
    .orderBy("from_id")
    .orderBy("to_id")
    .orderBy("edge_type")
    .execute();
  return rows.map((row) => ({
    from: row.from_id,
    to: row.to_id,
    type: row.edge_type,
    source: row.source,
    observed: row.observed_count,
    confidence: edgeConfidence(row.source, row.observed_count),
    weight: edgeWeight(row.edge_type, row.source, row.observed_count),
  }));
}

/** Stores edges found in a program's text. They outrank template edges and yield to observed ones. */
export async function insertInferredEdges(tx: Tx, scope: Scope, edges: readonly GraphEdge[]): Promise<void> {
  for (const part of inParts(edges)) {
    await tx
      .insertInto("tool_edge")
      .values(part.map((edge) => toRow(scope, edge, "inferred")))
      .onConflict((conflict) =>
        conflict
          .columns(["org", "project", "from_id", "to_id", "edge_type"])
          .doUpdateSet({ source: "inferred" })
          .where("tool_edge.source", "=", "template"),
      )
      .execute();
  }
}

const ROWS_AT_ONCE = 500;

function inParts<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / ROWS_AT_ONCE);
  return Array.from({ length: count }, (_, index) => items.slice(index * ROWS_AT_ONCE, (index + 1) * ROWS_AT_ONCE));
}

/** Replaces the template edges of the scope by the ones that current schemas give. */
export async function replaceTemplateEdges(db: Db, scope: Scope, edges: readonly GraphEdge[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // serialises gateways that refresh at the same time
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${scope.org}/${scope.project}`}, 2))`.execute(tx);
    const { rows } = await sql<{ from_id: string; to_id: string; edge_type: EdgeType }>`
      SELECT from_id, to_id, edge_type FROM tool_edge
      WHERE org = ${scope.org} AND project = ${scope.project} AND source = 'template'`.execute(tx);
    const wanted = new Map(edges.map((edge) => [keyOf(edge), edge]));
    const before = new Set(rows.map((row) => keyOf({ from: row.from_id, to: row.to_id, type: row.edge_type })));
    const added = [...wanted].flatMap(([key, edge]) => (before.has(key) ? [] : [toRow(scope, edge, "template")]));
    const dropped = rows.filter((row) => !wanted.has(keyOf({ from: row.from_id, to: row.to_id, type: row.edge_type })));
    for (const part of inParts(added)) {
      await tx
        .insertInto("tool_edge")
        .values(part)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    for (const part of inParts(dropped)) {
      await tx
        .deleteFrom("tool_edge")
        .where("org", "=", scope.org)
        .where("project", "=", scope.project)
        .where("source", "=", "template")
        .where((row) => row.or(part.map((each) => isEdge(row, each))))
        .execute();
    }
  });
}

type EdgeRow = Pick<ReturnType<typeof toRow>, "from_id" | "to_id" | "edge_type">;

function isEdge(row: ExpressionBuilder<Tables, "tool_edge">, { from_id, to_id, edge_type }: EdgeRow) {
  return row.and([row("from_id", "=", from_id), row("to_id", "=", to_id), row("edge_type", "=", edge_type)]);
}

function toRow({ org, project }: Scope, { from, to, type }: GraphEdge, source: "template" | "inferred") {
  return { org, project, from_id: from, to_id: to, edge_type: type, source, observed_count: 0 };
}

function keyOf({ from, to, type }: GraphEdge): string {
  return JSON.stringify([from, to, type]);
}
