import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import { createServerDatabase, makeFolder } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callCapability, callJson } from "../support/names-scene.ts";
import { runJson, runPml } from "../support/pml.ts";
import { seedCapability } from "../support/seed.ts";
import { servers } from "../support/upstream-servers.ts";

interface ExportSummary {
  readonly rows: number;
  readonly rows_sha256: string;
}

/** Writes memory as later versions of the product would, into a PML_HOME without a daemon. */
async function seedHome(home: string, count: number): Promise<void> {
  using ownership = acquireOwnership(home);
  await using client = await openEmbedded(ownership);
  await migrate(client.db);
  for (let index = 0; index < count; index += 1) await seedCapability(client.db, `learned_${index}`);
}

test("memory moves from the embedded database to PostgreSQL and back with equal checksums, and survives restarts [A31] [A32] [CR-J2] [AR2]", async () => {
  await using one = await makeFolder();
  await using two = await makeFolder();
  await using three = await makeFolder();
  await seedHome(one.path, 20);
  const file = join(one.path, "memory.pml");

  const original = await runJson<ExportSummary>(["export", "-o", file], { home: one.path });
  expect(original.rows).toBe(80);
  await runPml(["down"], { home: one.path });

  const url = await createServerDatabase();
  const imported = await runJson<{ added: number }>(["import", file, "--pg", url], { home: two.path });
  expect(imported.added).toBe(40);
  const server = { home: two.path, env: { DATABASE_URL: url } };
  const back = join(two.path, "back.pml");
  const onServer = await runJson<ExportSummary>(["export", "-o", back], server);
  expect(onServer.rows_sha256).toBe(original.rows_sha256);
  await runPml(["down"], server);

  await runJson(["import", back], { home: three.path });
  await runPml(["down"], { home: three.path });
  const restarted = await runJson<ExportSummary>(["export", "-o", join(three.path, "again.pml")], { home: three.path });
  expect(restarted.rows_sha256).toBe(original.rows_sha256);
  await runPml(["down"], { home: three.path });
});

test("an export on stdout can be imported, and a damaged one is refused with nothing written [A32]", async () => {
  await using one = await makeFolder();
  await using two = await makeFolder();
  await seedHome(one.path, 3);
  const { stdout } = await runPml(["export"], { home: one.path });
  await runPml(["down"], { home: one.path });
  const whole = join(two.path, "whole.pml");
  const cut = join(two.path, "cut.pml");
  await writeFile(whole, stdout);
  await writeFile(cut, stdout.slice(0, -200));

  const refused = await runPml(["import", cut], { home: two.path });
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("Nothing was imported");
  const check = await runPml(["import", whole, "--dry-run"], { home: two.path });
  expect(check.stdout).toContain("is complete: 12 rows");
  expect((await runPml(["import", whole], { home: two.path })).stdout).toBe("Imported 6 rows, 0 were already there\n");
  expect((await runPml(["import", whole], { home: two.path })).stdout).toBe("Imported 0 rows, 6 were already there\n");
  await runPml(["down"], { home: two.path });
});

test("pml backup writes a copy that holds everything and can be read back", async () => {
  await using home = await makeFolder();
  await using other = await makeFolder();
  await seedHome(home.path, 2);
  const backup = await runJson<ExportSummary & { path: string }>(["backup"], { home: home.path });
  await runPml(["down"], { home: home.path });
  expect(backup.rows).toBe(8);
  expect((await readFile(backup.path, "utf8")).split("\n")).toHaveLength(11);
  expect(await runJson(["import", backup.path], { home: other.path })).toMatchObject({
    added: 4,
    rows_sha256: backup.rows_sha256,
  });
  await runPml(["down"], { home: other.path });
});

const INNER = `return (await mcp.counting.list({ length: args.length })).items.length`;
const OUTER = `return { inner: await capabilities.util.inner({ length: 3 }) }`;
const WRITES = `return (await mcp.counting.add({ key: args.key })).count`;

test("a home that moved has the same names, versions, calls and results, and asks again", async () => {
  await using work = await makeFolder();
  const counting = servers.counting(join(work.path, "calls.txt"));
  const file = join(work.path, "memory.pml");
  {
    await using home = await startGateway({ counting }, { config: { permissions: { allow: ["counting:*"] } } });
    await home.ready("counting");
    await using connected = await connectClient(home.path);
    const { client } = connected;
    await execute(client, { name: "util:inner", code: INNER, args: { length: 2 }, intent: "count the numbers" });
    await execute(client, { name: "util:outer", code: OUTER });
    await execute(client, { name: "util:inner", code: `return "changed"`, on_conflict: "version" });
    await execute(client, { name: "util:writes", code: WRITES, args: { key: "there" } });
    await callJson(client, "dns:rename", { name: "util:writes", newName: "util:notes" });
    await runJson(["export", "-o", file], { home: home.path });
  }
  await using home = await startGateway({ counting });
  await home.ready("counting");
  const { notes } = await runJson<{ notes: string[] }>(["import", file], { home: home.path });
  expect(notes).toEqual([]);
  await using connected = await connectClient(home.path);
  const { client } = connected;
  expect(await callCapability(client, "cap:util:inner")).toBe("changed");
  expect(await callCapability(client, "cap:util:inner@v1", { length: 2 })).toBe(2);
  // The caller keeps to the version it was made with.
  expect(await callCapability(client, "cap:util:outer", { length: 3 })).toEqual({ inner: 3 });
  const asked = await execute(client, { capability: "util:writes", args: { key: "here" } });
  expect(asked).toMatchObject({ status: "approval_required", approval: { tools: ["counting:add"] } });
  expect(asked.warnings.join()).toContain("util:notes");
  const found = await callJson<{ results: { name?: string }[] }>(client, "pml_discover", {
    intent: "count the numbers",
  });
  expect(found.text).toContain("util:inner");
  const { value } = await callJson<{ usage_count: number; health: string }>(client, "dns:whois", {
    fqdn: "util:notes",
  });
  expect(value).toMatchObject({ usage_count: 1, health: "pending" });
});
