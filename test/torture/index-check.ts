/** Checks that heap and indexes agree, page by page: a lost or torn write breaks that first. */
import { PGlite } from "@electric-sql/pglite";
import { amcheck } from "@electric-sql/pglite/contrib/amcheck";
import { DurableFS, durableOptions } from "../../src/db/durable-fs.ts";
import { dataDirectory } from "../../src/db/open-embedded.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";

export interface IndexReport {
  readonly checked: number;
  readonly corrupt: readonly string[];
}

interface Relation {
  readonly name: string;
  readonly check: string;
}

const CHECKS: Readonly<Record<string, string>> = {
  btree:
    "SELECT bt_index_check($1::regclass, true, (SELECT indisunique FROM pg_index WHERE indexrelid = $1::regclass))",
  gin: "SELECT gin_index_check($1::regclass)",
  heap: "SELECT blkno, offnum, msg FROM verify_heapam($1::regclass)",
};

/** Opens the closed data directory with the checking extension, and leaves it unchanged. */
export async function checkIndexes(home: string): Promise<IndexReport> {
  using _ownership = acquireOwnership(home);
  const options = durableOptions(new DurableFS(dataDirectory(home)));
  const engine = await PGlite.create({ ...options, extensions: { amcheck } });
  await engine.exec("BEGIN; CREATE EXTENSION amcheck");
  const relations = await listRelations(engine);
  const corrupt: string[] = [];
  for (const relation of relations) corrupt.push(...(await checkRelation(engine, relation)));
  for (const column of GIN_COLUMNS) corrupt.push(...(await compareGinScans(engine, column)));
  await engine.exec("ROLLBACK");
  await engine.close();
  return { checked: relations.length, corrupt };
}

async function listRelations(engine: PGlite): Promise<Relation[]> {
  const { rows } = await engine.query<Relation>(`
    SELECT relation.oid::regclass::text AS name, method.amname AS check
      FROM pg_class AS relation JOIN pg_am AS method ON method.oid = relation.relam
     WHERE relation.relkind IN ('i', 'r', 't') AND method.amname IN ('btree', 'gin', 'heap')`);
  return rows;
}

function checkRelation(engine: PGlite, { name, check }: Relation): Promise<string[]> {
  return withinSavepoint(engine, name, async () => {
    const { rows } = await engine.query(CHECKS[check] ?? "", [name]);
    return check === "heap" ? rows.map((row) => `${name}: ${JSON.stringify(row)}`) : [];
  });
}

/** A corrupt relation makes its check fail, which must not abort the transaction of the others. */
async function withinSavepoint(engine: PGlite, name: string, check: () => Promise<string[]>): Promise<string[]> {
  await engine.exec("SAVEPOINT before_check");
  try {
    const found = await check();
    await engine.exec("RELEASE before_check");
    return found;
  } catch (error) {
    if (!isCorruption(error)) throw error;
    await engine.exec("ROLLBACK TO before_check");
    return [`${name}: ${error.message}`];
  }
}

/** False if the check failed because the engine did, which proves nothing. */
function isCorruption(error: unknown): error is Error {
  return error instanceof Error && "severity" in error && error.severity === "ERROR";
}

const GIN_COLUMNS = [
  { table: "capability_records", column: "tags" },
  { table: "capability_versions", column: "tools_used" },
];

/** Checks that the index finds the same rows for each element as a scan of the whole table. */
function compareGinScans(engine: PGlite, { table, column }: (typeof GIN_COLUMNS)[number]): Promise<string[]> {
  const query = `SELECT md5(string_agg(t.ctid::text, '' ORDER BY t.ctid)) AS found FROM ${table} AS t WHERE ${column} @> ARRAY[$1]`;
  return withinSavepoint(engine, `${table}.${column}`, async () => {
    const differing: string[] = [];
    const { rows } = await engine.query<{ tag: string }>(`SELECT DISTINCT unnest(${column}) AS tag FROM ${table}`);
    for (const { tag } of rows) {
      await engine.exec("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = on");
      const byIndex = await engine.query(query, [tag]);
      await engine.exec("SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = off");
      const byScan = await engine.query(query, [tag]);
      if (JSON.stringify(byIndex.rows) !== JSON.stringify(byScan.rows)) differing.push(`${table}.${column}: ${tag}`);
    }
    return differing;
  });
}
