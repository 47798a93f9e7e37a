import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { type CleanText, cleanValues, createCleanPool } from "./clean-values.ts";
import type { DatabaseClient } from "./client.ts";
import type { Tables } from "./tables.ts";

const INT8 = 20;

/** Counters and sizes are int8 and fit a JavaScript number; the driver would return strings. */
const parsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Settings that connections to both engines share. */
export const connectionDefaults = { types: parsers, application_name: "pml" } satisfies pg.ClientConfig;

/** Sends statements with cleaned values. */
export function createStatements(
  pool: pg.Pool,
  clean: CleanText,
): Pick<DatabaseClient, "db" | "execute" | "executePrepared"> {
  return {
    db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createCleanPool(pool, clean) }) }),
    execute: (text, values = []) => executeText(pool, text, cleanValues(values, clean)),
    executePrepared: (name, text, values) => executePrepared(pool, { name, text, values: cleanValues(values, clean) }),
  };
}

async function executeText(pool: pg.Pool, text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }> {
  const client = await pool.connect();
  try {
    const result: pg.QueryResult | pg.QueryResult[] = await client.query(text, [...values]);
    // Several statements give one result each; returns the rows of all of them.
    return { rows: Array.isArray(result) ? result.flatMap(({ rows }) => rows) : result.rows };
  } catch (error) {
    // A text may open a transaction and fail inside it; the next user of the connection must not inherit that.
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

async function executePrepared(
  pool: pg.Pool,
  statement: { readonly name: string; readonly text: string; readonly values: readonly unknown[] },
): Promise<{ rows: unknown[] }> {
  // The pool's own query would discard a connection on which a statement failed, with its prepared statements.
  const client = await pool.connect();
  try {
    const { rows } = await client.query<pg.QueryResultRow>({ ...statement, values: [...statement.values] });
    return { rows };
  } finally {
    client.release();
  }
}
