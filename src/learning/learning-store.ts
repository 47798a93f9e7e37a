import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import { mergeSchemas, type InferredSchema } from "./output-schema.ts";

interface PathStatistics {
  readonly path: readonly string[];
  readonly count: number;
  readonly successRate: number;
  readonly averageMs: number;
}

interface DecisionStatistics {
  readonly nodeId: string;
  readonly outcomes: Readonly<Record<string, { readonly count: number; readonly successRate: number }>>;
}

/** Statistics over the runs of one version. */
export interface Learning {
  readonly paths: readonly PathStatistics[];
  readonly dominantPath: readonly string[] | undefined;
  readonly decisionStats: readonly DecisionStatistics[];
}

export async function readLearning(
  db: Db,
  { org }: Scope,
  { id, version }: { readonly id: string; readonly version: number },
): Promise<Learning> {
  const paths = await db
    .selectFrom("capability_path")
    .select(["path", "count", "success_count", "total_ms"])
    .where("org", "=", org)
    .where("record_id", "=", id)
    .where("version", "=", version)
    .orderBy("count", "desc")
    .orderBy("path_key")
    .execute();
  const decisions = await db
    .selectFrom("capability_decision")
    .select(["node_id", "outcome", "count", "success_count"])
    .where("org", "=", org)
    .where("record_id", "=", id)
    .where("version", "=", version)
    .orderBy("node_id")
    .orderBy("outcome")
    .execute();
  return {
    paths: paths.map(({ path, count, success_count: successes, total_ms: total }) => ({
      path,
      count,
      successRate: successes / count,
      averageMs: total / count,
    })),
    dominantPath: paths[0]?.path,
    decisionStats: [...Map.groupBy(decisions, ({ node_id: node }) => node)].map(([nodeId, rows]) => ({
      nodeId,
      outcomes: Object.fromEntries(
        rows.map((row) => [row.outcome, { count: row.count, successRate: row.success_count / row.count }]),
      ),
    })),
  };
}

/** Rarity of a path among the runs of its version; 0 if all take it. */
export function surpriseOf(path: readonly string[], known: Learning["paths"]): number {
  const total = known.reduce((sum, { count }) => sum + count, 0);
  const same = known.find((each) => isDeepStrictEqual(each.path, path))?.count ?? 0;
  return total === 0 ? 0 : Math.round((1 - same / total) * 1000) / 1000;
}

export async function readOutputSchemas(
  db: Db,
  { org, project }: Scope,
  subjects: readonly string[],
): Promise<Map<string, InferredSchema>> {
  if (subjects.length === 0) return new Map();
  const rows = await db
    .selectFrom("output_schema")
    .select(["subject", "schema"])
    .where("org", "=", org)
    .where("project", "=", project)
    .where("subject", "in", [...subjects])
    .execute();
  return new Map(rows.map(({ subject, schema }) => [subject, schema as InferredSchema]));
}

/** Merges under a lock, since another gateway may widen the schema at the same time. Returns the merged schema. */
export async function widenOutputSchema(
  db: Db,
  { org, project }: Scope,
  { subject, seen }: { readonly subject: string; readonly seen: InferredSchema },
): Promise<InferredSchema> {
  return await db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${org}/${project}/${subject}`}, 1))`.execute(tx);
    const known = await readOutputSchemas(tx, { org, project }, [subject]);
    const schema = mergeSchemas(known.get(subject) ?? seen, seen);
    const text = JSON.stringify(schema);
    await tx
      .insertInto("output_schema")
      .values({ org, project, subject, schema: text })
      .onConflict((conflict) =>
        conflict.columns(["org", "project", "subject"]).doUpdateSet({ schema: text, changed_at: sql`now()` }),
      )
      .execute();
    return schema;
  });
}
