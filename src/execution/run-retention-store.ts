import { sql } from "kysely";
import type { Db } from "../db/client.ts";

const ROWS_AT_ONCE = 1_000;

/** Deletes runs that ended long ago, with their journals and traces; learned statistics stay. */
export async function dropOldRuns(db: Db, days: number): Promise<void> {
  for (let dropped = ROWS_AT_ONCE; dropped === ROWS_AT_ONCE;) {
    const { numAffectedRows } = await sql`
      DELETE FROM execution_run WHERE (org, id) IN (
        SELECT org, id FROM execution_run
        WHERE finished_at < now() - make_interval(secs => ${days * 86_400}) LIMIT ${ROWS_AT_ONCE})`.execute(db);
    dropped = Number(numAffectedRows ?? 0);
  }
}

/** Deletes expired results after some days, during which reading one reports that it expired. */
export async function dropOldResults(db: Db, days: number): Promise<void> {
  await db
    .deleteFrom("task_results")
    .where("expires_at", "<", sql<Date>`now() - make_interval(secs => ${days * 86_400})`)
    .execute();
}

/** Deletes drafts that were not run for long. */
export async function dropOldDrafts(db: Db, days: number): Promise<void> {
  await sql`
    UPDATE capability_records r SET state = 'deleted', deleted_at = now()
    WHERE r.state = 'draft' AND r.created_at < now() - make_interval(secs => ${days * 86_400})
      AND NOT EXISTS (SELECT 1 FROM execution_run e WHERE e.org = r.org AND e.record_id = r.id
        AND e.created_at > now() - make_interval(secs => ${days * 86_400}))`.execute(db);
}
