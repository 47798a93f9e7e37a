import { BoundedMap } from "../../base/bounded-map.ts";
import { readUsage } from "../../registry/capability-store.ts";
import type { Scope } from "../../registry/scope.ts";
import type { Db } from "../../db/client.ts";

const MAX_CACHED = 1_000;

/**
 * Counts uses of capabilities. Reads a count once and increments it in memory, to spare a query per run; uses on
 * other gateways show up once its entry was dropped.
 */
export class UseCounts {
  readonly #db: Db;
  readonly #counts = new BoundedMap<string, number>(MAX_CACHED);

  constructor(db: Db) {
    this.#db = db;
  }

  /** Call after a use; the count includes it. */
  async count(scope: Scope, id: string): Promise<number> {
    const known = this.#counts.get(id);
    const count = known === undefined ? (await readUsage(this.#db, scope, id)).count : known + 1;
    this.#counts.set(id, count);
    return count;
  }
}
