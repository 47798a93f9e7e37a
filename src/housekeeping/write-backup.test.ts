import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder, openTestDatabase } from "../../test/support/databases.ts";
import { seedCapability } from "../../test/support/seed.ts";
import { backupDirectory, writeBackup } from "./write-backup.ts";
import { importPath } from "../../test/support/transfer.ts";
import { DEFAULT_SCOPE } from "../registry/scope.ts";
import { verifyExport } from "./verify-export.ts";
import { dropExpiredResults, vacuumTables } from "./result-retention-store.ts";

test("writeBackup keeps the newest copies, each complete and importable", async () => {
  await using home = await makeFolder();
  await using client = await openTestDatabase("pglite");
  await seedCapability(client.db, "a");
  const directory = backupDirectory(home.path);
  const results = [];
  for (let round = 0; round < 4; round += 1)
    results.push(await writeBackup(client, DEFAULT_SCOPE, { directory, keep: 2 }));
  expect(await readdir(directory)).toEqual(results.slice(-2).map(({ path }) => path.slice(directory.length + 1)));
  const newest = results.at(-1)?.path ?? "";
  expect((await verifyExport(newest)).footer.rows).toBe(4);
  await using other = await openTestDatabase("pglite");
  expect(await importPath(other, newest)).toMatchObject({ added: 2 });
});

test("writeBackup leaves no partial file on failure and names the path", async () => {
  await using client = await openTestDatabase("pglite");
  await expect(
    writeBackup(client, DEFAULT_SCOPE, { directory: join("/dev/null", "backups"), keep: 2 }),
  ).rejects.toMatchObject({
    code: "file_unusable",
    message: /\/dev\/null\/backups/,
  });
});

test("dropExpiredResults keeps unexpired results, and rows except old ones of single calls", async () => {
  await using client = await openTestDatabase("pglite");
  const run_id = "018f0000-0000-7000-8000-000000000001";
  const single = "018f0000-0000-7000-8000-000000000002";
  await client.db
    .insertInto("execution_run")
    .values({ org: "o", id: run_id, project: "p", state: "succeeded" })
    .execute();
  const row = { org: "o", run_id, status: "ok", preview: "p", result: Buffer.from("x"), result_bytes: 1 };
  const hour = 3_600_000;
  await client.db
    .insertInto("task_results")
    .values([
      { ...row, task_id: "old", expires_at: new Date(Date.now() - hour) },
      { ...row, task_id: "new", expires_at: new Date(Date.now() + hour) },
      { ...row, task_id: "of a run", expires_at: new Date(Date.now() - 31 * 24 * hour) },
      { ...row, run_id: single, task_id: "call, old", expires_at: new Date(Date.now() - 31 * 24 * hour) },
      { ...row, run_id: single, task_id: "call", expires_at: new Date(Date.now() - hour) },
    ])
    .execute();
  await dropExpiredResults(client.db);
  await vacuumTables(client.db);
  const left = await client.db.selectFrom("task_results").select(["task_id", "result"]).orderBy("task_id").execute();
  expect(left).toEqual([
    { task_id: "call", result: null },
    { task_id: "new", result: Buffer.from("x") },
    { task_id: "of a run", result: null },
    { task_id: "old", result: null },
  ]);
});
