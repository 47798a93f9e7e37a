import { sql } from "kysely";
import type { Db } from "../db/client.ts";

/**
 * Deletes expired full results but keeps their rows, which tell when they expired. Deletes old rows of single calls
 * too, because no run refers to them.
 */
export async function dropExpiredResults(db: Db): Promise<void> {
  await db
    .updateTable("task_results")
    .set({ result: null })
    .where("expires_at", "<", sql<Date>`now()`)
    .where("result", "is not", null)
    .execute();
  await sql`
    DELETE FROM task_results t WHERE expires_at < now() - interval '30 days'
      AND NOT EXISTS (SELECT FROM execution_run r WHERE r.org = t.org AND r.id = t.run_id)`.execute(db);
}

/** The embedded engine has no autovacuum: without this, dead rows and stale statistics accumulate. */
export async function vacuumTables(db: Db): Promise<void> {
  await sql`VACUUM (ANALYZE)`.execute(db);
}
