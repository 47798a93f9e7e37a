import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { v7 as newId } from "uuid";
import { describe, expect, test } from "vitest";
import { engines, makeFolder, openTestDatabase } from "../../test/support/databases.ts";
import { seedCapability } from "../../test/support/seed.ts";
import { exportText, importText } from "../../test/support/transfer.ts";
import type { DatabaseClient } from "../db/client.ts";
import { IMPORTED_TABLES } from "./prepared-rows.ts";

/** The rows of an export that an import takes. */
function takenRows(text: string): string[] {
  return text.split("\n").filter((line) => IMPORTED_TABLES.some((table) => line.startsWith(`["${table}"`)));
}

/** Seeds at least one row in every exported table, with the kinds of values that differ between engines. */
async function seedLearning(db: DatabaseClient["db"], record: string): Promise<void> {
  const org = "local";
  const scope = { org, project: "default" };
  const version = { org, record_id: record, version: 1 };
  const other = await seedCapability(db, "nested");
  await db.insertInto("capability_dependency").values({ org, from_record_id: record, to_record_id: other }).execute();
  await db
    .insertInto("capability_path")
    .values({ ...version, path_key: "k", path: ["n1", "d1"] })
    .execute();
  await db
    .insertInto("capability_decision")
    .values({ ...version, node_id: "d1", outcome: 'case "ü"' })
    .execute();
  await db
    .insertInto("output_schema")
    .values({ ...scope, subject: "fs:read", schema: `{"type":"object"}` })
    .execute();
  await db
    .insertInto("capability_suggestion")
    .values({
      ...scope,
      id: newId(),
      record_id: record,
      suggested_name: "fs:read_json",
      confidence: 0.1 + 0.2,
      reasoning: "tools",
      source: "heuristic",
    })
    .execute();
  await db
    .insertInto("tool_edge")
    .values({ ...scope, from_id: "fs:read", to_id: "fs:write", edge_type: "provides", source: "observed" })
    .execute();
  await db
    .insertInto("discovery_tally")
    .values({ ...scope, subject: "fs:read", tag: "eu", uses: 3, successes: 2 })
    .execute();
  await db
    .insertInto("discovery_intent")
    .values({ ...scope, subject: "fs:read", intent_hash: "h", intent: "read ü" })
    .execute();
}

async function hashOf(db: DatabaseClient["db"], record: string): Promise<string> {
  const version = await db
    .selectFrom("capability_versions")
    .select("source_hash")
    .where("record_id", "=", record)
    .executeTakeFirstOrThrow();
  return version.source_hash;
}

async function seedEverything({ db }: DatabaseClient): Promise<void> {
  const code = `return await capabilities.fs.nested({ path: await mcp.fs.read({ path: "\u2028" }) });`;
  const record = await seedCapability(db, "read_json", { org: "local", project: "default" }, code);
  const fqdn = `local.default.fs.a.${(await hashOf(db, record)).slice(0, 4)}`;
  const person = newId();
  const run = newId();
  const org = "local";
  const project = "default";
  await db.insertInto("principals").values({ org, id: person, kind: "person", name: "Zoë" }).execute();
  await db
    .insertInto("capability_aliases")
    .values({ org, project, alias: "old", kind: "name", record_id: record })
    .execute();
  await seedLearning(db, record);
  await db
    .insertInto("capability_rename_history")
    .values({
      org,
      id: newId(),
      record_id: record,
      old_name: "a",
      new_name: "b",
      old_fqdn: fqdn,
      new_fqdn: fqdn,
      renamed_via: "user",
    })
    .execute();
  await db
    .insertInto("tool_schema")
    .values({
      org,
      project,
      tool_id: "fs:read",
      server_id: "fs",
      name: "read",
      input_schema: `{"z":1,"a":[1e21,0.1]}`,
      definition: "{}",
      content_hash: "h",
    })
    .execute();
  await db
    .insertInto("tool_schema_change")
    .values({
      org,
      id: newId(),
      project,
      tool_id: "fs:read",
      old_hash: "a",
      new_hash: "b",
      old_definition: "{}",
      new_definition: "{}",
    })
    .execute();
  await db
    .insertInto("upstream_catalogue")
    .values({ org, project, server_id: "fs", config_hash: "c", offer: `{"tools":[]}` })
    .execute();
  await db
    .insertInto("tool_usage")
    .values({
      org,
      id: newId(),
      project,
      server_id: "fs",
      tool_name: "read",
      outcome: "success",
      duration_ms: 0.1 + 0.2,
    })
    .execute();
  await db
    .insertInto("execution_run")
    .values({
      org,
      id: run,
      project,
      record_id: record,
      version: 1,
      source_hash: await hashOf(db, record),
      state: "succeeded",
      principal: "local",
      intent: "read ü",
      input: JSON.stringify({ n: 1.5e-7, deep: [null, { b: 1, a: 2 }] }),
      finished_at: new Date(),
      approved_tools: ["fs:read"],
      approval_id: "apr_1",
    })
    .execute();
  await db
    .insertInto("run_journal")
    .values({
      org,
      run_id: run,
      seq: 0,
      kind: "batch",
      payload: JSON.stringify({ entries: [{ kind: "decision", seq: 0, node: "d1", loop: "", outcome: "\u2028\n" }] }),
    })
    .execute();
  await db
    .insertInto("execution_trace")
    .values({
      org,
      run_id: run,
      project,
      record_id: record,
      version: 1,
      success: true,
      executed_path: "[]",
      decisions: "[]",
      task_summaries: "[]",
      duration_ms: 1,
    })
    .execute();
  await db
    .insertInto("task_results")
    .values({
      org,
      run_id: run,
      task_id: "t1",
      status: "ok",
      preview: "p",
      result: Buffer.from([0, 255]),
      result_bytes: 2,
      expires_at: new Date(),
    })
    .execute();
  await db
    .insertInto("audit_log")
    .values({ org, id: newId(), project, principal_id: person, action: "a", subject: "s", outcome: "ok" })
    .execute();
}

test("an export goes from the embedded engine to a server and back with equal rows", async () => {
  await using embedded = await openTestDatabase("pglite");
  await seedEverything(embedded);
  const original = await exportText(embedded);
  const taken = takenRows(original.text);
  expect(taken.length).toBeGreaterThan(9);

  await using server = await openTestDatabase("postgres");
  const there = await importText(server, original.text);
  expect(there).toMatchObject({ added: taken.length, kept: 0, left_out: original.footer.rows - taken.length });
  const onServer = await exportText(server);
  expect(takenRows(onServer.text)).toEqual(taken);

  await using again = await openTestDatabase("pglite");
  await importText(again, onServer.text);
  expect(takenRows((await exportText(again)).text)).toEqual(taken);
});

test("an export contains every table that holds memory", async () => {
  await using client = await openTestDatabase("pglite");
  await seedEverything(client);
  const { text } = await exportText(client);
  const header = JSON.parse(text.split("\n")[0] ?? "") as { tables: { name: string; rows: number }[] };
  const { rows } = await client.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const coordination = ["pml_migration", "pml_migration_lock", "scope_version", "upstream_credential"];
  // A file must not bring along grants of a person.
  const grants = ["approvals", "capability_permission_set", "permission_rules"];
  // Caches can be computed again.
  const caches = ["capability_memo", "embedding_cache"];
  // Verdicts hold one principal of this gateway to one count each.
  const verdicts = ["capability_feedback"];
  // Confidence is learned from what happens on this gateway.
  const calibration = ["recall_decision"];
  const expected = rows
    .map((row) => (row as { tablename: string }).tablename)
    .filter((name) => ![...coordination, ...grants, ...caches, ...verdicts, ...calibration].includes(name));
  expect(header.tables.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
  expect(header.tables.filter(({ rows: count }) => count === 0)).toEqual([]);
});

describe.each(engines)("importMemory on %s", (engine) => {
  test("adds and changes nothing when it reads the same file again", async () => {
    await using client = await openTestDatabase(engine);
    await seedEverything(client);
    const before = await exportText(client);
    const result = await importText(client, before.text);
    const taken = takenRows(before.text).length;
    expect(result).toMatchObject({ added: 0, kept: taken, left_out: before.footer.rows - taken });
    expect((await exportText(client)).footer.rows_sha256).toBe(before.footer.rows_sha256);
  });

  test("refuses a truncated or altered file before it writes anything", async () => {
    await using source = await openTestDatabase(engine);
    await seedCapability(source.db, "one");
    await seedCapability(source.db, "two");
    const { text } = await exportText(source);
    const lines = text.trimEnd().split("\n");
    const damaged = {
      "cut in the middle": text.slice(0, text.length / 2),
      "without its footer": lines.slice(0, -1).join("\n"),
      "a row missing": lines.toSpliced(2, 1).join("\n"),
      "a row changed": text.replace("fs:one", "fs:owe"),
      "two rows swapped": [lines[0], lines[2], lines[1], ...lines.slice(3)].join("\n"),
      "header changed": text.replace(`"engine":"${engine}"`, `"engine":"other"`),
      "something else": "hello\n",
      empty: "",
    };
    await using client = await openTestDatabase(engine);
    for (const [how, content] of Object.entries(damaged)) {
      await expect(importText(client, content), how).rejects.toMatchObject({ code: "export_invalid" });
    }
    expect((await exportText(client)).footer.rows).toBe(0);
  });

  test("refuses the whole import if another record has the name", async () => {
    await using source = await openTestDatabase(engine);
    await seedCapability(source.db, "free");
    await seedCapability(source.db, "taken");
    const { text } = await exportText(source);
    await using client = await openTestDatabase(engine);
    await seedCapability(client.db, "taken");
    await expect(importText(client, text)).rejects.toMatchObject({ code: "import_conflict", message: /fs:taken/ });
    expect((await exportText(client)).footer.rows).toBe(4);
  });

  test("refuses an export of a newer schema", async () => {
    await using client = await openTestDatabase(engine);
    const { text } = await exportText(client);
    await client.execute("DELETE FROM pml_migration");
    await expect(importText(client, text)).rejects.toMatchObject({ code: "export_invalid", hint: /Update PML/ });
  });

  test("uses the defaults for columns that the export does not know", async () => {
    await using source = await openTestDatabase(engine);
    await source.execute("ALTER TABLE capability_records DROP COLUMN forked_from_fqdn, DROP COLUMN state_before");
    await seedCapability(source.db, "old");
    const { text } = await exportText(source);
    await using client = await openTestDatabase(engine);
    expect(await importText(client, text)).toMatchObject({ added: 2, kept: 0 });
  });

  test("notifies every gateway of the changed scopes, and adds missing counters", async () => {
    await using source = await openTestDatabase(engine);
    await seedCapability(source.db, "a");
    await source.execute("DELETE FROM capability_stat");
    const { text } = await exportText(source);
    await using client = await openTestDatabase(engine);
    await importText(client, text);
    const versions = await client.db.selectFrom("scope_version").select(["org", "project", "version"]).execute();
    expect(versions).toEqual([{ org: "local", project: "default", version: 1 }]);
    expect(await client.db.selectFrom("capability_stat").select("usage_count").execute()).toEqual([{ usage_count: 0 }]);
  });
});

test("an export is plain NDJSON that ends with a newline", async () => {
  await using folder = await makeFolder();
  await using client = await openTestDatabase("pglite");
  await seedCapability(client.db, "a");
  const { text } = await exportText(client);
  const path = join(folder.path, "x");
  await writeFile(path, text);
  const lines = (await readFile(path, "utf8")).split("\n");
  expect(lines.pop()).toBe("");
  for (const line of lines) JSON.parse(line);
});
