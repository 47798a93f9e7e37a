import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { v7 as newId } from "uuid";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import { seedCapability } from "../../test/support/seed.ts";
import type { DatabaseClient } from "./client.ts";

const divide = (client: DatabaseClient, by: number): Promise<unknown> =>
  client.executePrepared("divide", "SELECT 10 / $1::int AS ten", [by]);

describe.each(engines)("storage on %s", (engine) => {
  let client: DatabaseClient;
  beforeAll(async () => {
    client = await openTestDatabase(engine);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  test("values read back as written", async () => {
    const id = newId();
    const result = Buffer.from([0, 1, 255]);
    const expires = new Date("2026-01-02T03:04:05.678Z");
    await client.db.insertInto("execution_run").values({ org: "o", id, project: "p", state: "succeeded" }).execute();
    await client.db
      .insertInto("task_results")
      .values({
        org: "o",
        run_id: id,
        task_id: "t",
        status: "ok",
        preview: "é\u2028",
        result,
        result_bytes: 2 ** 40,
        expires_at: expires,
      })
      .execute();
    const row = await client.db
      .selectFrom("task_results")
      .selectAll()
      .where("run_id", "=", id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ preview: "é\u2028", result, result_bytes: 2 ** 40, expires_at: expires });
  });

  test("a prepared statement can be used again after it failed once", async () => {
    await expect(divide(client, 0)).rejects.toThrow("division by zero");
    expect(await divide(client, 1)).toEqual({ rows: [{ ten: 10 }] });
  });

  test("text arrays and jsonb can be searched by content", async () => {
    const id = await seedCapability(client.db, "containment");
    const found = await sql<{ record_id: string }>`
      SELECT v.record_id FROM capability_versions v JOIN capability_records r ON r.org = v.org AND r.id = v.record_id
      WHERE r.tags @> ARRAY['files'] AND v.structure @> '{"nodes":[{"tool":"fs:read"}]}' AND r.action = 'containment'`.execute(
      client.db,
    );
    expect(found.rows).toEqual([{ record_id: id }]);
  });

  test.each([
    "UPDATE capability_versions SET code_snippet = 'x'",
    "DELETE FROM capability_versions",
    "TRUNCATE capability_versions",
    "DELETE FROM audit_log WHERE org = 'aud'",
    "UPDATE audit_log SET outcome = 'x' WHERE org = 'aud'",
  ])("the database itself refuses: %s", async (statement) => {
    await seedCapability(client.db, `keep_${newId()}`);
    await client.db
      .insertInto("audit_log")
      .values({ org: "aud", id: newId(), project: "p", action: "a", subject: "s", outcome: "ok" })
      .execute();
    await expect(client.execute(statement)).rejects.toThrow(/is append-only/);
  });

  test("a live name is unique in its project, and a deleted one can be used again", async () => {
    await seedCapability(client.db, "twice");
    await expect(seedCapability(client.db, "twice")).rejects.toMatchObject({ code: "23505" });
    await client.db
      .updateTable("capability_records")
      .set({ deleted_at: new Date() })
      .where("action", "=", "twice")
      .execute();
    await seedCapability(client.db, "twice");
    await seedCapability(client.db, "twice", { org: "local", project: "other" });
  });

  test("a failed transaction leaves nothing behind", async () => {
    const work = client.db.transaction().execute(async (tx) => {
      await tx.insertInto("principals").values({ org: "o", id: newId(), kind: "agent", name: "ghost" }).execute();
      throw new Error("change of mind");
    });
    await expect(work).rejects.toThrow("change of mind");
    const found = await client.db.selectFrom("principals").select("id").where("name", "=", "ghost").execute();
    expect(found).toEqual([]);
  });

  test("an open transaction is invisible outside of it", async () => {
    const name = `private-${newId()}`;
    const read = (): Promise<unknown[]> =>
      client.db.selectFrom("principals").select("id").where("name", "=", name).execute();
    let meanwhile: Promise<unknown[]> | undefined;
    await client.db
      .transaction()
      .execute(async (tx) => {
        await tx.insertInto("principals").values({ org: "o", id: newId(), kind: "agent", name }).execute();
        meanwhile = read();
        await tx.selectFrom("principals").select("id").execute();
        throw new Error("rolled back");
      })
      .catch(() => undefined);
    expect(await meanwhile).toEqual([]);
  });

  test("a failed text of several statements does not poison the connection", async () => {
    await expect(client.execute("BEGIN; SELECT 1; SELECT nonsense; COMMIT")).rejects.toThrow("nonsense");
    expect((await client.execute("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  test("a notification arrives after the commit, and not without one", async () => {
    const heard: string[] = [];
    const listening = await client.listen("news", {
      onNotification: (payload) => heard.push(payload),
      onReconnect: () => undefined,
    });
    await client.db
      .transaction()
      .execute(async (tx) => {
        await sql`SELECT pg_notify('news', 'never')`.execute(tx);
        throw new Error("rolled back");
      })
      .catch(() => undefined);
    await client.execute("SELECT pg_notify('news', 'hello')");
    await expect.poll(() => heard).toEqual(["hello"]);
    await listening.close();
  });
});
