import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { v7 as newId } from "uuid";
import { describe, expect, test } from "vitest";
import { engines, makeFolder, openTestDatabase } from "../../test/support/databases.ts";
import { seedCapability } from "../../test/support/seed.ts";
import type { DatabaseClient } from "../db/client.ts";
import type { ExportFooter } from "./export-format.ts";
import { exportMemory } from "./export-memory.ts";
import { importMemory } from "./import-memory.ts";

async function exportText(client: DatabaseClient): Promise<{ text: string; footer: ExportFooter }> {
  let text = "";
  const footer = await exportMemory(client, async (lines) => {
    text += lines;
  });
  return { text, footer };
}

async function importText(client: DatabaseClient, text: string): Promise<Awaited<ReturnType<typeof importMemory>>> {
  await using folder = await makeFolder();
  const path = join(folder.path, "x.pml");
  await writeFile(path, text);
  return await importMemory(client, path);
}

/** Seeds at least one row in every exported table, with the kinds of values that differ between engines. */
async function seedLearning(db: DatabaseClient["db"], record: string): Promise<void> {
  const org = "local";
  const scope = { org, project: "default" };
  const version = { org, record_id: record, version: 1 };
  const other = await seedCapability(db, "nested");
  await db
    .insertInto("capability_source")
    .values({ ...scope, source_hash: "s", record_id: record, version: 1 })
    .execute();
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

async function seedEverything({ db }: DatabaseClient): Promise<void> {
  const record = await seedCapability(db, "read_json");
  const run = newId();
  const org = "local";
  const project = "default";
  await db.insertInto("principals").values({ org, id: newId(), kind: "person", name: "Zoë" }).execute();
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
      old_fqdn: "c",
      new_fqdn: "d",
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
    .values({ org, id: run, project, record_id: record, state: "succeeded" })
    .execute();
  await db
    .insertInto("run_journal")
    .values({ org, run_id: run, seq: 0, kind: "call", payload: `{"text":"\u2028\\n"}` })
    .execute();
  await db
    .insertInto("execution_trace")
    .values({
      org,
      run_id: run,
      project,
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
    .values({ org, id: newId(), project, action: "a", subject: "s", outcome: "ok" })
    .execute();
}

test("an export goes from the embedded engine to a server and back with equal checksums", async () => {
  await using embedded = await openTestDatabase("pglite");
  await seedEverything(embedded);
  const original = await exportText(embedded);
  expect(original.text.split("\n").length).toBeGreaterThan(13);

  await using server = await openTestDatabase("postgres");
  const there = await importText(server, original.text);
  expect(there).toMatchObject({ added: original.footer.rows, kept: 0 });
  const onServer = await exportText(server);
  expect(onServer.footer.rows_sha256).toBe(original.footer.rows_sha256);

  await using again = await openTestDatabase("pglite");
  await importText(again, onServer.text);
  expect((await exportText(again)).footer.rows_sha256).toBe(original.footer.rows_sha256);
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
  const expected = rows
    .map((row) => (row as { tablename: string }).tablename)
    .filter((name) => ![...coordination, ...grants, ...caches, ...verdicts].includes(name));
  expect(header.tables.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
  expect(header.tables.filter(({ rows: count }) => count === 0)).toEqual([]);
});

describe.each(engines)("importMemory on %s", (engine) => {
  test("adds and changes nothing when it reads the same file again", async () => {
    await using client = await openTestDatabase(engine);
    await seedEverything(client);
    const before = await exportText(client);
    const result = await importText(client, before.text);
    expect(result).toMatchObject({ added: 0, kept: before.footer.rows });
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
    expect((await exportText(client)).footer.rows).toBe(3);
  });

  test("refuses an export of a newer schema", async () => {
    await using client = await openTestDatabase(engine);
    const { text } = await exportText(client);
    await client.execute("DELETE FROM pml_migration");
    await expect(importText(client, text)).rejects.toMatchObject({ code: "export_invalid", hint: /Update PML/ });
  });

  test("uses the defaults for columns that the export does not know", async () => {
    await using source = await openTestDatabase(engine);
    await source.execute("ALTER TABLE principals DROP COLUMN disabled_at");
    await source.db.insertInto("principals").values({ org: "o", id: newId(), kind: "agent", name: "old" }).execute();
    const { text } = await exportText(source);
    await using client = await openTestDatabase(engine);
    expect(await importText(client, text)).toMatchObject({ added: 1 });
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
