import { readUsage } from "../../registry/capability-store.ts";
import type { Scope } from "../../registry/scope.ts";
import type { Db } from "../../db/client.ts";

const MOST_KEPT = 1_000;

/**
 * How often capabilities were used. Read once and counted on from there, so that running something
 * does not cost a look into the database each time; what other gateways run is seen a little later.
 */
export class UseCounts {
  readonly #db: Db;
  readonly #counts = new Map<string, number>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** Called after a use, which is part of the answer. */
  async count(scope: Scope, id: string): Promise<number> {
    const known = this.#counts.get(id);
    const count = known === undefined ? (await readUsage(this.#db, scope, id)).count : known + 1;
    if (this.#counts.size >= MOST_KEPT) this.#counts.clear();
    this.#counts.set(id, count);
    return count;
  }
}
