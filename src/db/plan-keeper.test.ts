import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/databases.ts";

const NO_RUN = randomUUID();

test("createPlanKeeper replaces a plan made for an empty table once the table has grown", async () => {
  await using client = await openTestDatabase("pglite");
  const forget = (): Promise<unknown> =>
    client.executePrepared("forget", "DELETE FROM run_journal WHERE org = $1 AND run_id = $2::uuid", ["o", NO_RUN]);
  const explain = async (): Promise<string> => {
    const { rows } = await client.execute(`EXPLAIN EXECUTE forget('o', '${NO_RUN}')`);
    return JSON.stringify(rows);
  };
  // After five executions PostgreSQL switches to a generic plan.
  for (let times = 0; times < 8; times += 1) await forget();
  expect(await explain()).toContain("Seq Scan on run_journal");
  await client.execute(`
    INSERT INTO execution_run (org, id, project, state)
      SELECT 'o', gen_random_uuid(), 'p', 'succeeded' FROM generate_series(1, 4000);
    INSERT INTO run_journal (org, run_id, seq, kind, payload)
      SELECT 'o', id, 0, 'batch', jsonb_build_object('text', repeat(id::text, 10)) FROM execution_run`);
  await forget();
  expect(await explain()).toContain("Index Scan using run_journal_pkey");
});
