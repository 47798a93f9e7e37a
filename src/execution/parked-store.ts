import { sql } from "kysely";
import type { Db } from "../db/client.ts";
import type { Scope } from "../registry/scope.ts";
import type { RunError } from "../contract/execute.ts";
import { toJson } from "./run-store.ts";

/** Counts the parked runs of a principal, without those nested in them. */
export async function countParkedRuns(db: Db, { org, project }: Scope, principal: string): Promise<number> {
  const { count } = await db
    .selectFrom("execution_run")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("org", "=", org)
    .where("project", "=", project)
    .where("state", "=", "parked")
    .where("principal", "=", principal)
    .where("parent_run_id", "is", null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Fails the runs that nobody went on with, and deletes their journals and sealed secrets, which only resuming needs. */
export async function expireParkedRuns(db: Db, days: number): Promise<void> {
  await sql`
    WITH expired AS (
      UPDATE execution_run SET state = 'failed', finished_at = now(), error = ${toJson(expiredRun(days))}::jsonb,
        options = options - 'sealed'
      WHERE state = 'parked' AND created_at <= now() - make_interval(secs => ${days * 86_400})
      RETURNING org, id)
    DELETE FROM run_journal j USING expired e WHERE j.org = e.org AND j.run_id = e.id`.execute(db);
}

export function expiredRun(days: number): RunError {
  return {
    code: "run_expired",
    message: `Nobody went on with this run for ${days} days`,
    hint: "Run the program again. To keep parked runs longer: runs.parkedDays",
  };
}
