import { type RawBuilder, sql } from "kysely";
import type { Db, Tx } from "../db/client.ts";
import type { Scope } from "../registry/scope.ts";

/**
 * Tables of an export: everything learned in one scope. Excludes jobs and scope versions, which only coordinate the
 * gateways of one database, and grants: approvals, permission rules and permission sets. An import takes fewer tables
 * (import-rows.ts). Referenced tables come before the tables that refer to them.
 */
const EXPORTED_TABLES = [
  "principals",
  "capability_records",
  "capability_versions",
  "capability_source",
  "capability_stat",
  "capability_aliases",
  "capability_rename_history",
  "capability_suggestion",
  "capability_dependency",
  "capability_path",
  "capability_decision",
  "output_schema",
  "tool_edge",
  "discovery_tally",
  "discovery_intent",
  "tool_schema",
  "tool_schema_change",
  "upstream_catalogue",
  "tool_usage",
  "execution_run",
  "run_journal",
  "execution_trace",
  "task_results",
  "audit_log",
] as const;
export type ExportedTable = (typeof EXPORTED_TABLES)[number];

export interface TableShape {
  readonly name: ExportedTable;
  readonly columns: readonly string[];
  readonly keys: readonly string[];
}

export async function readTableShapes(db: Db): Promise<TableShape[]> {
  const { rows } = await sql<{ table: string; columns: string[]; keys: string[] }>`
    SELECT c.relname AS table,
      array_agg(a.attname::text ORDER BY a.attnum) AS columns,
      (SELECT array_agg(k.attname::text ORDER BY position)
         FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS u(attnum, position)
         JOIN pg_attribute k ON k.attrelid = c.oid AND k.attnum = u.attnum
        WHERE i.indrelid = c.oid AND i.indisprimary AND k.attrelid = i.indrelid) AS keys
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY(${[...EXPORTED_TABLES]}::text[])
    GROUP BY c.oid, c.relname`.execute(db);
  return EXPORTED_TABLES.map((name) => {
    const row = rows.find(({ table }) => table === name);
    if (row === undefined) throw new Error(`Table ${name} is missing from the database`);
    return { name, columns: row.columns.filter((column) => !isWithheld(name, column)), keys: row.keys };
  });
}

/** Columns of runs that grant something, or say which process holds the run. */
const WITHHELD_OF_RUNS: readonly string[] = ["approved_tools", "approval_id", "owner", "lease_until", "imported_at"];

function isWithheld(table: ExportedTable, column: string): boolean {
  return table === "execution_run" && WITHHELD_OF_RUNS.includes(column);
}

/** Counts the applied migrations; exports carry the number. */
export async function readSchemaVersion(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom("pml_migration")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** Opens a snapshot in which both engines print the same text for the same value. */
export async function beginSnapshot(tx: Tx): Promise<void> {
  await sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`.execute(tx);
  await sql`SET LOCAL TIME ZONE 'UTC'`.execute(tx);
  await sql`SET LOCAL extra_float_digits = 1`.execute(tx);
}

export async function countRows(tx: Tx, table: ExportedTable, scope: Scope): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM ${sql.table(table)} AS t WHERE ${inScope(table, scope)}`.execute(tx);
  return rows[0]?.count ?? 0;
}

const FETCH_ROWS = 500;

/** Yields the scope's rows as JSON text, ordered by key. Uses a cursor, because the embedded engine cannot stream. */
export async function* readRows(tx: Tx, { name, keys }: TableShape, scope: Scope): AsyncGenerator<string[]> {
  const order = sql.join(keys.map((key) => sql.ref(key)));
  const row = name === "execution_run" ? sql`to_jsonb(t) - ${literals(WITHHELD_OF_RUNS)}::text[]` : sql`to_jsonb(t)`;
  await sql`DECLARE export_rows NO SCROLL CURSOR FOR
    SELECT (${row})::text AS row FROM ${sql.table(name)} AS t WHERE ${inScope(name, scope)}
    ORDER BY ${order}`.execute(tx);
  for (;;) {
    const { rows } = await sql<{ row: string }>`FETCH ${sql.raw(String(FETCH_ROWS))} FROM export_rows`.execute(tx);
    if (rows.length === 0) break;
    yield rows.map((each) => each.row);
  }
  await sql`CLOSE export_rows`.execute(tx);
}

function literals(texts: readonly string[]): RawBuilder<unknown> {
  return sql`ARRAY[${sql.join(texts.map((text) => sql.lit(text)))}]`;
}

/** Tables whose rows belong to a record or a run; the scope of all others is in their own columns. */
const OF_A_RECORD: readonly ExportedTable[] = [
  "capability_versions",
  "capability_source",
  "capability_stat",
  "capability_rename_history",
  "capability_path",
  "capability_decision",
];
const OF_A_RUN: readonly ExportedTable[] = ["run_journal", "execution_trace", "task_results"];

/**
 * SQL condition for the rows `t` of a scope. Literals instead of parameters, because a cursor takes none.
 */
function inScope(table: ExportedTable, scope: Scope): RawBuilder<boolean> {
  const [org, project] = [sql.lit(scope.org), sql.lit(scope.project)];
  const ofOrg = (condition: RawBuilder<unknown>): RawBuilder<boolean> => sql`t.org = ${org} AND ${condition}`;
  const records = finishedRecords(org, project);
  const runs = finishedRuns(org, project);
  if (table === "principals") return ofOrg(sql`t.id IN (${principalsOf(org, project)})`);
  if (table === "capability_records") return ofOrg(sql`t.id IN (${records})`);
  if (table === "execution_run") return ofOrg(sql`t.id IN (${runs})`);
  if (table === "capability_dependency")
    return ofOrg(sql`t.from_record_id IN (${records}) AND t.to_record_id IN (${records})`);
  if (OF_A_RECORD.includes(table)) return ofOrg(sql`t.record_id IN (${records})`);
  if (OF_A_RUN.includes(table)) return ofOrg(sql`t.run_id IN (${runs})`);
  return ofOrg(sql`t.project = ${project}`);
}

/** Leaves out programs that nothing but an unfinished run knows: their literals may be secrets that its end erases. */
function finishedRecords(org: RawBuilder<unknown>, project: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT r.id FROM capability_records r WHERE r.org = ${org} AND r.project = ${project}
    AND NOT (r.state = 'draft' AND ${hasRun(sql`IN ('running', 'parked')`)} AND NOT ${hasRun(sql`NOT IN ('running', 'parked')`)})`;
}

/** Leaves out unfinished runs with everything below them. */
function finishedRuns(org: RawBuilder<unknown>, project: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT f.id FROM execution_run f WHERE f.org = ${org} AND f.project = ${project} AND f.id NOT IN (
    WITH RECURSIVE open AS (
      SELECT id FROM execution_run WHERE org = ${org} AND project = ${project} AND state IN ('running', 'parked')
      UNION SELECT c.id FROM execution_run c JOIN open ON c.parent_run_id = open.id WHERE c.org = ${org})
    SELECT id FROM open)`;
}

function hasRun(state: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`EXISTS (SELECT 1 FROM execution_run x WHERE x.org = r.org AND x.record_id = r.id AND x.state ${state})`;
}

/** Selects the people and agents that the scope's own rows name: an organisation's other projects may have others. */
function principalsOf(org: RawBuilder<unknown>, project: RawBuilder<unknown>): RawBuilder<unknown> {
  const own = sql`org = ${org} AND project = ${project}`;
  const records = sql`record_id IN (SELECT id FROM capability_records WHERE ${own})`;
  return sql`SELECT created_by FROM capability_records WHERE ${own}
    UNION SELECT updated_by FROM capability_records WHERE ${own}
    UNION SELECT created_by FROM capability_aliases WHERE ${own}
    UNION SELECT created_by FROM capability_versions WHERE org = ${org} AND ${records}
    UNION SELECT renamed_by FROM capability_rename_history WHERE org = ${org} AND ${records}
    UNION SELECT principal_id FROM tool_usage WHERE ${own}
    UNION SELECT principal_id FROM audit_log WHERE ${own}`;
}

/** Updates statistics: those of formerly empty tables would make the planner choose the wrong indexes. */
export async function analyzeTables(db: Db): Promise<void> {
  await sql`ANALYZE ${sql.join(EXPORTED_TABLES.map((name) => sql.table(name)))}`.execute(db);
}
