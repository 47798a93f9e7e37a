import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import { seedCapability } from "../../test/support/seed.ts";
import type { Db } from "../db/client.ts";
import type { Routing } from "./record.ts";
import { inheritRouting, Routings } from "./routings.ts";

const scope = { org: "local", project: "default" };

async function readRouting(db: Db, id: string): Promise<Routing | null> {
  const { routing } = await db
    .selectFrom("capability_records")
    .select("routing")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return routing;
}

function routingOf(tool: string): Routing {
  return tool.startsWith("fs:") ? "local" : "cloud";
}

test("inheritRouting is local if any tool is, and cloud without tools", () => {
  expect(inheritRouting(["fs:read", "web:search"], routingOf)).toBe("local");
  expect(inheritRouting(["web:search"], routingOf)).toBe("cloud");
  expect(inheritRouting([], routingOf)).toBe("cloud");
});

describe.each(engines)("Routings on %s", (engine) => {
  test("stores inherited routings, follows a change, and leaves explicit ones", async () => {
    await using client = await openTestDatabase(engine);
    const { db } = client;
    let local = "fs:read";
    const errors: unknown[] = [];
    await using routings = new Routings({
      db,
      routingOf: (tool) => (tool === local ? "local" : "cloud"),
      onError: (error) => errors.push(error),
    });
    const reads = await seedCapability(db, "reads");
    const said = await seedCapability(db, "said");
    const elsewhere = await seedCapability(db, "elsewhere", { org: "other", project: "default" });
    const caller = await seedCapability(db, "caller");
    await routings.set({ ...scope, id: said }, "cloud");
    expect(await Promise.all([reads, said, caller, elsewhere].map((id) => readRouting(db, id)))).toEqual([
      "local",
      "cloud",
      "local",
      null,
    ]);
    local = "nothing";
    routings.refresh(scope);
    routings.refresh(scope);
    await routings[Symbol.asyncDispose]();
    expect(await Promise.all([reads, said].map((id) => readRouting(db, id)))).toEqual(["cloud", "cloud"]);
    local = "fs:read";
    await routings.set({ ...scope, id: said }, undefined);
    expect(await Promise.all([reads, said].map((id) => readRouting(db, id)))).toEqual(["local", "local"]);
    expect(errors).toEqual([]);
  });

  test("a called capability's tools count as well", async () => {
    await using client = await openTestDatabase(engine);
    const { db } = client;
    const [outer, inner] = [await seedCapability(db, "outer"), await seedCapability(db, "inner")];
    await using routings = new Routings({ db, routingOf: () => "local", onError: () => undefined });
    const pure = await seedCapability(db, "pure");
    await routings.update(scope);
    await db.transaction().execute(async (tx) => {
      // versions are immutable, so a later one without tools replaces it
      for (const id of [outer, pure]) {
        const values = { org: scope.org, record_id: id, version: 2, source_kind: "code", source_hash: id } as const;
        await tx
          .insertInto("capability_versions")
          .values({ ...values, tools_used: [] })
          .execute();
        await tx
          .updateTable("capability_records")
          .set({ version: 2, updated_at: sql`now()` })
          .where("id", "=", id)
          .execute();
      }
      await tx
        .insertInto("capability_dependency")
        .values({ org: scope.org, from_record_id: outer, from_version: 2, to_record_id: inner })
        .execute();
    });
    await routings.update(scope);
    expect(await Promise.all([outer, inner, pure].map((id) => readRouting(db, id)))).toEqual([
      "local",
      "local",
      "cloud",
    ]);
  });

  test("updates only changed records and their callers until forget", async () => {
    await using client = await openTestDatabase(engine);
    const { db } = client;
    const [outer, inner, other] = [
      await seedCapability(db, "outer"),
      await seedCapability(db, "inner"),
      await seedCapability(db, "other"),
    ];
    await using routings = new Routings({ db, routingOf: () => "local", onError: () => undefined });
    await db
      .insertInto("capability_dependency")
      .values({ org: scope.org, from_record_id: outer, from_version: 1, to_record_id: inner })
      .execute();
    await routings.update(scope);
    const longAgo = sql<Date>`now() - interval '1 day'`;
    await db.updateTable("capability_records").set({ routing: "cloud", updated_at: longAgo }).execute();
    await sql`UPDATE capability_dependency SET created_at = ${longAgo}`.execute(db);
    await db
      .updateTable("capability_records")
      .set({ updated_at: sql`now()` })
      .where("id", "=", inner)
      .execute();
    const read = () => Promise.all([outer, inner, other].map((id) => readRouting(db, id)));
    await routings.update(scope);
    expect(await read()).toEqual(["local", "local", "cloud"]);
    routings.forget(scope);
    await routings.update(scope);
    expect(await read()).toEqual(["local", "local", "local"]);
  });
});
