import { sql } from "kysely";
import type { Db, Tx } from "../db/client.ts";
import { type Scope, STANDARD_SCOPE } from "../registry/scope.ts";

/**
 * Tables of an export: everything learned. Excludes jobs and scope versions, which only coordinate the gateways of one
 * database; approvals and permission rules, because importing a file must not permit anything; and the records of
 * servers that every installation has. Referenced tables come before the tables that refer to them.
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
    return { name, columns: row.columns, keys: row.keys };
  });
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

export async function countRows(tx: Tx, table: ExportedTable): Promise<number> {
  const { count } = await tx
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("org", "<>", STANDARD_SCOPE.org)
    .executeTakeFirstOrThrow();
  return count;
}

const FETCH_ROWS = 500;

/** Yields the rows as JSON text, ordered by key. Uses a cursor, because the embedded engine cannot stream. */
export async function* readRows(tx: Tx, { name, keys }: TableShape): AsyncGenerator<string[]> {
  const order = sql.join(keys.map((key) => sql.ref(key)));
  await sql`DECLARE export_rows NO SCROLL CURSOR FOR
    SELECT to_jsonb(t)::text AS row FROM ${sql.table(name)} AS t WHERE t.org <> ${sql.lit(STANDARD_SCOPE.org)}
    ORDER BY ${order}`.execute(tx);
  for (;;) {
    const { rows } = await sql<{ row: string }>`FETCH ${sql.raw(String(FETCH_ROWS))} FROM export_rows`.execute(tx);
    if (rows.length === 0) break;
    yield rows.map(({ row }) => row);
  }
  await sql`CLOSE export_rows`.execute(tx);
}

export interface RowBatch {
  readonly table: TableShape;
  /** The columns of the file; the others take their defaults, so that exports of older versions can be read. */
  readonly columns: readonly string[];
  readonly rows: readonly string[];
}

/** Skips rows whose key exists. Returns the number of new rows. */
export async function insertRows(tx: Tx, { table, columns, rows }: RowBatch): Promise<number> {
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const keys = sql.join(table.keys.map((key) => sql.ref(key)));
  const { numAffectedRows } = await sql`
    INSERT INTO ${sql.table(table.name)} (${names})
    SELECT ${names} FROM jsonb_populate_recordset(NULL::${sql.table(table.name)}, ${`[${rows.join(",")}]`}::jsonb)
    ON CONFLICT (${keys}) DO NOTHING`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

/** Updates statistics: those of formerly empty tables would make the planner choose the wrong indexes. */
export async function analyzeTables(db: Db): Promise<void> {
  await sql`ANALYZE ${sql.join(EXPORTED_TABLES.map((name) => sql.table(name)))}`.execute(db);
}

/** Adds missing counters: lists by usage only show records that have them, and older exports may not. */
export async function addMissingCounters(tx: Tx): Promise<void> {
  await sql`INSERT INTO capability_stat (org, record_id) SELECT org, id FROM capability_records
    ON CONFLICT DO NOTHING`.execute(tx);
}

export function readRecordScopes(tx: Tx): Promise<Scope[]> {
  return tx.selectFrom("capability_records").select(["org", "project"]).distinct().execute();
}
