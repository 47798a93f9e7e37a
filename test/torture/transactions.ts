/** Transactions over the real tables, built so that any missing part is detectable. */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../../src/db/client.ts";

const ORG = "torture";
const PROJECT = "default";
const TAGS = 20;

export interface TortureTransaction {
  readonly id: string;
  /** An earlier record whose use this transaction counts. */
  readonly counted: string | undefined;
  /** Length of random text: long ones are stored out of line, in a TOAST table. */
  readonly bytes: number;
}

export async function writeTransaction(db: Db, { id, counted, bytes }: TortureTransaction): Promise<void> {
  const tags = [...randomBytes(3)].map((byte) => `tag-${byte % TAGS}`);
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto("capability_records")
      .values({
        org: ORG,
        project: PROJECT,
        id,
        fqdn: `${ORG}.${PROJECT}.kill.${id}`,
        display_name: `kill:${id}`,
        namespace: "kill",
        action: id,
        hash: id.slice(0, 4),
        tags,
      })
      .execute();
    await tx
      .insertInto("capability_versions")
      .values({
        org: ORG,
        record_id: id,
        version: 1,
        source_kind: "code",
        code_snippet: randomBytes(bytes).toString("base64"),
        source_hash: id,
        tools_used: tags.map((tag) => `server:${tag}`),
      })
      .execute();
    await tx.insertInto("capability_stat").values({ org: ORG, record_id: id }).execute();
    if (counted !== undefined) {
      await tx
        .updateTable("capability_stat")
        .set(({ eb }) => ({ usage_count: eb("usage_count", "+", 1) }))
        .where("org", "=", ORG)
        .where("record_id", "=", counted)
        .execute();
    }
    await tx
      .insertInto("audit_log")
      .values({
        org: ORG,
        project: PROJECT,
        id,
        action: "torture.write",
        subject: id,
        outcome: "success",
        details: JSON.stringify(counted === undefined ? {} : { counted }),
      })
      .execute();
  });
}

export interface DatabaseFindings {
  /** Committed transactions that are present. */
  readonly committed: number;
  /** Acknowledged transactions that are missing. */
  readonly lost: number;
  /** Transactions that are partly present, or with a part twice. */
  readonly half: number;
  /** Counters that differ from the number of counting transactions. */
  readonly wrongCounters: number;
}

export function isIntact({ lost, half, wrongCounters }: DatabaseFindings): boolean {
  return lost + half + wrongCounters === 0;
}

/** Compares the database with the acknowledged transactions and with itself. */
export async function verifyTransactions(db: Db, acknowledged: readonly string[]): Promise<DatabaseFindings> {
  const { rows } = await sql<DatabaseFindings>`
    SELECT
      (SELECT count(*)::int FROM capability_records WHERE org = ${ORG}) AS committed,
      (SELECT count(*)::int FROM unnest(string_to_array(${acknowledged.join(",")}, ',')::uuid[]) AS acknowledged (id)
         LEFT JOIN (SELECT id FROM capability_records WHERE org = ${ORG}) AS record USING (id)
        WHERE record.id IS NULL) AS lost,
      (SELECT count(*)::int
         FROM (SELECT id FROM capability_records WHERE org = ${ORG}) AS record
         FULL JOIN (SELECT record_id AS id, count(*) AS n FROM capability_versions WHERE org = ${ORG} GROUP BY 1)
           AS version USING (id)
         FULL JOIN (SELECT record_id AS id, count(*) AS n FROM capability_stat WHERE org = ${ORG} GROUP BY 1)
           AS stat USING (id)
         FULL JOIN (SELECT subject::uuid AS id, count(*) AS n FROM audit_log WHERE org = ${ORG} GROUP BY 1)
           AS entry USING (id)
        WHERE record.id IS NULL OR version.n IS DISTINCT FROM 1 OR stat.n IS DISTINCT FROM 1
           OR entry.n IS DISTINCT FROM 1) AS half,
      (SELECT count(*)::int
         FROM (SELECT record_id AS id, usage_count FROM capability_stat WHERE org = ${ORG}) AS stat
         FULL JOIN (SELECT (details ->> 'counted')::uuid AS id, count(*) AS n FROM audit_log
                     WHERE org = ${ORG} AND details ? 'counted' GROUP BY 1) AS entry USING (id)
        WHERE coalesce(stat.usage_count, 0) <> coalesce(entry.n, 0)) AS "wrongCounters"`.execute(db);
  const [findings] = rows;
  if (findings === undefined) throw new Error("the verifying query returned no row");
  return findings;
}
