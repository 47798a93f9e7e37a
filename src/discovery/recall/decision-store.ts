import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/client.ts";
import type { Asker } from "../../registry/scope.ts";
import type { Decision } from "./confidence.ts";

type Whose = Pick<Asker, "scope" | "principal">;

/** Enough for every weight; older ones are dropped, since tasks change. */
const KEPT = 1_000;

/** Reads a principal's decisions, oldest first. */
export async function readDecisions(db: Db, { scope, principal }: Whose): Promise<Decision[]> {
  const rows = await db
    .selectFrom("recall_decision")
    .select(["features", "confidence", "was_right"])
    .where("org", "=", scope.org)
    .where("project", "=", scope.project)
    .where("principal", "=", principal)
    .orderBy("id")
    .execute();
  return rows.map(({ features, confidence, was_right: right }) => ({ features, confidence, right }));
}

export async function writeDecision(db: Db, { scope, principal }: Whose, decision: Decision): Promise<void> {
  const whose = { org: scope.org, project: scope.project, principal };
  const { features, confidence, right } = decision;
  await db
    .insertInto("recall_decision")
    .values({ ...whose, id: newId(), features: [...features], confidence, was_right: right })
    .execute();
  await sql`DELETE FROM recall_decision WHERE org = ${scope.org} AND project = ${scope.project} AND principal = ${principal}
    AND id < (SELECT id FROM recall_decision WHERE org = ${scope.org} AND project = ${scope.project}
      AND principal = ${principal} ORDER BY id DESC OFFSET ${KEPT - 1} LIMIT 1)`.execute(db);
}

/** The group of a capability, or its own id. */
export async function findGroup(db: Db, org: string, id: string): Promise<string> {
  const { rows } = await sql<{ group_id: string | null }>`
    SELECT r.group_id FROM capability_records r
    WHERE r.org = ${org} AND r.id = ${id}::uuid`.execute(db);
  return rows[0]?.group_id ?? id;
}
