import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { migrate } from "./migrate.ts";
import { dataDirectory, openEmbedded, whenLost } from "./open-embedded.ts";
import { acquireOwnership } from "./owner-lock.ts";

async function walBytes(home: string): Promise<number> {
  const folder = join(dataDirectory(home), "pg_wal");
  const names = (await readdir(folder)).filter((name) => /^[0-9A-F]{24}$/.test(name));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test("openEmbedded finds all committed data when it opens the directory again", async () => {
  await using home = await makeFolder();
  {
    using ownership = acquireOwnership(home.path);
    await using client = await openEmbedded(ownership);
    await migrate(client.db);
    await client.db.insertInto("scope_version").values({ org: "a", project: "b" }).execute();
  }
  using ownership = acquireOwnership(home.path);
  await using client = await openEmbedded(ownership);
  expect(await client.db.selectFrom("scope_version").select("org").execute()).toEqual([{ org: "a" }]);
});

test("openEmbedded keeps the WAL small, also in one long transaction", async () => {
  await using home = await makeFolder();
  using ownership = acquireOwnership(home.path);
  await using client = await openEmbedded(ownership);
  await client.execute("CREATE TABLE filler (id int PRIMARY KEY, text text)");
  const kilobyte = "x".repeat(1_000);
  let largest = 0;
  await client.db.transaction().execute(async (tx) => {
    for (let round = 0; round < 200; round += 1) {
      await sql`INSERT INTO filler SELECT ${round}::int * 1000 + g, ${kilobyte} || g FROM generate_series(1, 1000) g`.execute(
        tx,
      );
      if (round % 10 === 0) largest = Math.max(largest, await walBytes(home.path));
    }
  });
  expect(Math.max(largest, await walBytes(home.path))).toBeLessThanOrEqual(128 * 1024 * 1024);
});

test.each([
  ["an uncaught error", `throw new Error("broken")`, "broken"],
  ["an exit of its own", "process.exit(3)", "ended with code 3"],
])("whenLost reports a thread that ends by %s", async (_how, script, reason) => {
  const lost = await whenLost(new Worker(script, { eval: true }));
  expect(lost.message).toContain(reason);
});

test("acquireOwnership refuses a second opener, in the same process too", async () => {
  await using home = await makeFolder();
  using _ownership = acquireOwnership(home.path);
  expect(() => acquireOwnership(home.path)).toThrow(`${home.path} is owned by another process (pid ${process.pid})`);
});

test("acquireOwnership succeeds again after a release", async () => {
  await using home = await makeFolder();
  acquireOwnership(home.path)[Symbol.dispose]();
  using again = acquireOwnership(home.path);
  expect(again.home).toBe(home.path);
});
