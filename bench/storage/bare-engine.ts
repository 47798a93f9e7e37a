import { createReadStream, createWriteStream } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import type { BenchEngine, Transferred } from "./engine.ts";
import { JOURNAL_ROWS_PER_STATEMENT, ORG, RUN_ID } from "./sample-data.ts";

/** A driver without PML around it. */
export interface DriverConnection extends AsyncDisposable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  script(statements: string): Promise<unknown>;
}

const LOOKUP = `SELECT id, fqdn, version, state, visibility FROM capability_records
  WHERE org = $1 AND project = $2 AND display_name = $3 AND deleted_at IS NULL`;
const INSERT_USAGE = `INSERT INTO tool_usage (org, id, project, server_id, tool_name, outcome, duration_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;
const INSERT_JOURNAL = `INSERT INTO run_journal (org, run_id, seq, kind, node_id, tool_id, payload)
  SELECT $1, $2::uuid, seq, kind, node_id, tool_id, payload
  FROM jsonb_to_recordset($3::jsonb) AS r(seq int, kind text, node_id text, tool_id text, payload jsonb)`;
const TABLES = ["capability_records", "capability_versions", "capability_stat"] as const;

export async function createBareEngine(connection: DriverConnection): Promise<BenchEngine> {
  await ensureSchema(connection);
  return {
    script: (statements) => connection.script(statements),
    lookup: ({ project, displayName }) => connection.query(LOOKUP, [ORG, project, displayName]),
    insertUsage: (id) => connection.query(INSERT_USAGE, [ORG, id, "project-0", "billing", "send", "success", 12.5]),
    insertJournal: (rows) => connection.query(INSERT_JOURNAL, [ORG, RUN_ID, rows]),
    exportTo: (path) => exportTo(connection, path),
    importFrom: (path) => importFrom(connection, path),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

async function ensureSchema(connection: DriverConnection): Promise<void> {
  const { rows } = await connection.query("SELECT to_regclass('capability_records') IS NOT NULL AS exists");
  if ((rows[0] as { exists: boolean }).exists) return;
  const folder = new URL("../../src/db/migrations/", import.meta.url);
  for (const name of (await readdir(folder)).toSorted()) {
    await connection.script(await readFile(new URL(name, folder), "utf8"));
  }
}

/** The minimum: all rows as text, a table at a time, without snapshot, paging and checksum. */
async function exportTo(connection: DriverConnection, path: string): Promise<Transferred> {
  const file = createWriteStream(path);
  let count = 0;
  for (const table of TABLES) {
    const { rows } = await connection.query(`SELECT to_jsonb(t)::text AS row FROM ${table} AS t`);
    file.write(rows.map((row) => `["${table}",${(row as { row: string }).row}]\n`).join(""));
    count += rows.length;
  }
  file.end();
  await finished(file);
  return { rows: count };
}

/** Imports as PML does, but without checking the file. */
async function importFrom(connection: DriverConnection, path: string): Promise<Transferred> {
  await connection.query("BEGIN");
  let count = 0;
  let batch: { table: string; rows: string[] } = { table: "", rows: [] };
  const flush = async (): Promise<void> => {
    if (batch.rows.length === 0) return;
    const text = `INSERT INTO ${batch.table} SELECT * FROM jsonb_populate_recordset(NULL::${batch.table}, $1::jsonb)`;
    await connection.query(text, [`[${batch.rows.join(",")}]`]);
    count += batch.rows.length;
  };
  for await (const line of createInterface({ input: createReadStream(path, "utf8") })) {
    if (!line.startsWith('["')) continue; // header and footer
    const table = line.slice(2, line.indexOf('"', 2));
    if (table !== batch.table || batch.rows.length >= JOURNAL_ROWS_PER_STATEMENT) {
      await flush();
      batch = { table, rows: [] };
    }
    batch.rows.push(line.slice(line.indexOf(",") + 1, -1));
  }
  await flush();
  await connection.query("COMMIT");
  return { rows: count };
}
