import { sql } from "kysely";
import type { Db } from "../db/client.ts";

/** Full results live for a while; the row stays, so that one can still say when it expired. */
export async function dropExpiredResults(db: Db): Promise<void> {
  await db
    .updateTable("task_results")
    .set({ result: null })
    .where("expires_at", "<", sql<Date>`now()`)
    .where("result", "is not", null)
    .execute();
}

/** The embedded engine has no autovacuum: without this, dead rows and stale statistics pile up. */
export async function vacuumTables(db: Db): Promise<void> {
  await sql`VACUUM (ANALYZE)`.execute(db);
}
