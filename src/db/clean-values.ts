import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import type pg from "pg";

/** Takes known secrets out of a text; returns the same text if there are none. */
export type CleanText = (text: string) => string;

/**
 * Cleans the values of a statement. Every statement of the gateway passes here, so that no table can hold a known secret,
 * whichever way it came.
 */
export function cleanValues(values: readonly unknown[], clean: CleanText): unknown[] {
  return values.map((value) => cleanValue(value, clean));
}

function cleanValue(value: unknown, clean: CleanText): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return cleanValues(value, clean);
  if (!Buffer.isBuffer(value)) return value;
  const text = value.toString("utf8");
  const cleaned = clean(text);
  return cleaned === text ? value : Buffer.from(cleaned);
}

/** The pool as the query builder uses it, with cleaned values. */
export function createCleanPool(pool: pg.Pool, clean: CleanText): PostgresPool {
  return {
    options: pool.options,
    connect: async () => new CleanConnection(await pool.connect(), clean),
    end: () => pool.end(),
  };
}

class CleanConnection implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #clean: CleanText;

  constructor(client: pg.PoolClient, clean: CleanText) {
    this.#client = client;
    this.#clean = clean;
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(given: string | PostgresCursor<R>, values: readonly unknown[] = []): unknown {
    if (typeof given !== "string") throw new Error("no statement of PML uses a cursor");
    return this.#client.query(given, cleanValues(values, this.#clean));
  }

  release(): void {
    this.#client.release();
  }
}
