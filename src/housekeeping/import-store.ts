import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../db/client.ts";
import type { Scope } from "../registry/scope.ts";
import { IMPORTED_TABLES, type ImportedTable, type PreparedRows } from "./prepared-rows.ts";

/** Columns that an import sets; all others take their defaults, above all those that grant, count or name an author. */
const COLUMNS: Readonly<Record<ImportedTable, readonly string[]>> = {
  capability_records: columns(
    "org id project record_type fqdn display_name namespace action hash state state_before version version_tag",
    "visibility description tags ttl_seconds cache_policy parent_id forked_from forked_from_fqdn",
    "created_at updated_at archived_at deleted_at",
  ),
  capability_versions: columns(
    "org record_id version version_tag source_kind code_snippet source source_hash behaviour_key structure parameters_schema",
    "tools_used change_summary signature created_at",
  ),
  capability_aliases: columns("org project alias kind record_id created_at"),
  capability_rename_history: columns("org id record_id old_name new_name old_fqdn new_fqdn renamed_via renamed_at"),
  capability_dependency: columns("org from_record_id from_version to_record_id to_version created_at"),
  execution_run: columns(
    "org id project parent_run_id parent_call record_id version source_hash intent input state kind seed started_ms",
    "principal client options result error logs created_at finished_at imported_at",
  ),
  run_journal: columns("org run_id seq kind payload written_at"),
  execution_trace: columns(
    "org run_id project error executed_path decisions task_summaries duration_ms created_at",
    "record_id version parent_run_id success",
  ),
  task_results: columns(
    "org project run_id task_id tool_id content_type status preview result result_bytes created_at expires_at",
  ),
};

function columns(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(" "));
}

export interface ImportJob {
  readonly scope: Scope;
  readonly rows: PreparedRows;
  /** The time of the import, which marks its runs. */
  readonly at: Date;
}

export interface Inserted {
  readonly added: number;
  /** Records that the import brought; those that were here stay as they are, with all that belongs to them. */
  readonly records: ReadonlySet<string>;
}

/** Small enough for the parser, large enough to spread the cost of a statement over many rows. */
const CHARACTERS_PER_STATEMENT = 128 * 1024;

/** Inserts rows whose key is free and whose record or run came with the same import. */
export async function insertPrepared(tx: Tx, job: ImportJob): Promise<Inserted> {
  const records = new Set<string>();
  let added = 0;
  for (const table of IMPORTED_TABLES) {
    let batch: string[] = [];
    let characters = 0;
    const flush = async (): Promise<void> => {
      const keys = await insertBatch(tx, job, { table, rows: batch });
      added += keys.length;
      if (table === "capability_records") for (const key of keys) records.add(key);
      batch = [];
      characters = 0;
    };
    for await (const { owner, row } of job.rows.read(table)) {
      if (owner !== "" && table !== "capability_records" && !records.has(owner)) continue;
      batch.push(row);
      characters += row.length;
      if (characters >= CHARACTERS_PER_STATEMENT) await flush();
    }
    if (batch.length > 0) await flush();
    // Later tables join this one; without statistics each of their batches would read all of it.
    await sql`ANALYZE ${sql.table(table)}`.execute(tx);
  }
  return { added, records };
}

async function insertBatch(
  tx: Tx,
  job: ImportJob,
  { table, rows }: { readonly table: ImportedTable; readonly rows: readonly string[] },
): Promise<string[]> {
  const names = sql.join(COLUMNS[table].map((column) => sql.ref(column)));
  const first = table === "capability_records" ? sql.ref("id") : sql.ref("org");
  const { rows: inserted } = await sql<{ key: string }>`
    INSERT INTO ${sql.table(table)} (${names})
    SELECT ${sql.join(COLUMNS[table].map((column) => valueOf(table, column)))}
    FROM jsonb_populate_recordset(NULL::${sql.table(table)}, ${`[${rows.join(",")}]`}::jsonb) AS n ${belonging(table, job)}
    ON CONFLICT ${table === "capability_records" ? sql`(org, id)` : sql``} DO NOTHING RETURNING ${first}::text AS key`.execute(
    tx,
  );
  return inserted.map(({ key }) => key);
}

const OF_ITS_RUN: readonly string[] = ["record_id", "version", "parent_run_id"];

/** A trace repeats facts about its run; they are taken from the run. */
function valueOf(table: ImportedTable, column: string): RawBuilder<unknown> {
  if (table !== "execution_trace") return sql.ref(`n.${column}`);
  if (column === "success") return sql`r.state = 'succeeded'`;
  return sql.ref(OF_ITS_RUN.includes(column) ? `r.${column}` : `n.${column}`);
}

/** Runs belong to a version of this very project and source, and everything else of a run to a run of this import. */
function belonging(table: ImportedTable, { scope, at }: ImportJob): RawBuilder<unknown> {
  if (table === "execution_run")
    return sql`JOIN capability_versions v ON v.org = ${scope.org} AND v.record_id = n.record_id AND v.version = n.version
        AND v.source_hash = n.source_hash
      JOIN capability_records c ON c.org = v.org AND c.id = v.record_id AND c.project = ${scope.project}`;
  if (!OF_A_RUN.includes(table)) return sql``;
  return sql`JOIN execution_run r ON r.org = ${scope.org} AND r.id = n.run_id AND r.project = ${scope.project}
    AND r.imported_at = ${at}`;
}

const OF_A_RUN: readonly ImportedTable[] = ["run_journal", "execution_trace", "task_results"];

/**
 * Makes runs without a reachable caller runs of their own: the caller may have stayed out, and a forged file can make
 * callers of each other.
 */
export async function detachOrphans(tx: Tx, { scope: { org, project }, at }: ImportJob): Promise<void> {
  await sql`
    WITH RECURSIVE reached AS (
      SELECT id FROM execution_run WHERE org = ${org} AND project = ${project} AND imported_at = ${at} AND parent_run_id IS NULL
      UNION SELECT c.id FROM execution_run c JOIN reached ON c.parent_run_id = reached.id
        WHERE c.org = ${org} AND c.imported_at = ${at})
    UPDATE execution_run SET parent_run_id = NULL, parent_call = NULL
    WHERE org = ${org} AND project = ${project} AND imported_at = ${at} AND parent_run_id IS NOT NULL
      AND id NOT IN (SELECT id FROM reached)`.execute(tx);
  await sql`UPDATE execution_trace t SET parent_run_id = r.parent_run_id FROM execution_run r
    WHERE t.org = ${org} AND r.org = t.org AND r.id = t.run_id AND r.imported_at = ${at}
      AND t.parent_run_id IS DISTINCT FROM r.parent_run_id`.execute(tx);
}

/** Maps sources to the new versions, except for sources that a record of this scope already has. */
export async function insertSources(tx: Tx, { org, project }: Scope, records: ReadonlySet<string>): Promise<void> {
  await sql`INSERT INTO capability_source (org, project, source_hash, record_id, version)
    SELECT DISTINCT ON (v.source_hash) v.org, r.project, v.source_hash, v.record_id, v.version
    FROM capability_versions v JOIN capability_records r ON r.org = v.org AND r.id = v.record_id
    WHERE v.org = ${org} AND v.record_id = ANY(${[...records]}::uuid[]) AND r.project = ${project}
      AND r.record_type = 'capability' AND r.deleted_at IS NULL
    ORDER BY v.source_hash, r.display_name LIKE 'unnamed\\_%', r.version <> v.version, r.created_at, v.version DESC
    ON CONFLICT DO NOTHING`.execute(tx);
}

/** Removes former names that are the name of another record here. */
export async function dropTakenAliases(tx: Tx, { org, project }: Scope, records: ReadonlySet<string>): Promise<void> {
  await sql`DELETE FROM capability_aliases a USING capability_records r
    WHERE a.org = ${org} AND a.project = ${project} AND a.record_id = ANY(${[...records]}::uuid[])
      AND r.org = a.org AND r.project = a.project AND r.id <> a.record_id AND r.deleted_at IS NULL
      AND a.alias IN (r.display_name, r.fqdn)`.execute(tx);
}

/** Gives each new record its counters: lists by usage only show records that have them. */
export async function insertCounters(tx: Tx, { org }: Scope, records: ReadonlySet<string>): Promise<void> {
  await sql`INSERT INTO capability_stat (org, record_id) SELECT ${org}, unnest(${[...records]}::uuid[])
    ON CONFLICT DO NOTHING`.execute(tx);
}
