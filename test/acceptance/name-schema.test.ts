import type { Client } from "@modelcontextprotocol/client";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DatabaseClient } from "../../src/db/client.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { createServerDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callCapability, callJson, listNames } from "../support/names-scene.ts";
import { migrateUpTo, seedOldCapability } from "../support/old-schema.ts";
import { runJson, runPml, until } from "../support/pml.ts";

const stack = new AsyncDisposableStack();
let home: GatewayHome;
let client: Client;
/** A second connection to the database, as an administrator would open it. */
let database: DatabaseClient;
let old: string;
beforeAll(async () => {
  const url = await createServerDatabase();
  database = stack.use(await openPostgres({ url, poolSize: 3 }));
  await migrateUpTo(database.db, 1);
  old = await seedOldCapability(database.db);
  home = stack.use(await startGateway({}, { env: { DATABASE_URL: url } }));
  ({ client } = stack.use(await connectClient(home.path, { transport: "http", era: "auto" })));
});
afterAll(() => stack.disposeAsync());

const rows = async <T>(text: string, ...values: unknown[]): Promise<T[]> =>
  (await database.execute(text, values)).rows as T[];

test("[13.1-AC4] a memory of the first schema is brought up with everything in it, and works", async () => {
  const { value } = await callJson(client, "dns:whois", { fqdn: "local.default.fs.kept.0ld1" });
  expect(value).toMatchObject({
    id: old,
    display_name: "fs:kept",
    version: 2,
    tags: ["old"],
    usage_count: 40,
    success_count: 30,
    aliases: ["fs:kept_before"],
    // columns added later have their defaults
    visibility: "private",
    cache_policy: "none",
    ttl: null,
    verified: false,
    forked_from: null,
  });
  expect(await callCapability(client, "cap:fs:kept")).toBe("kept 2 well");
  expect(await callCapability(client, "cap:fs:kept@v1")).toBe("kept 1");
  expect(await callCapability(client, "cap:fs:kept_before", { what: "too" })).toBe("kept 2 too");
  await callJson(client, "dns:rename", { name: "fs:kept", newName: "fs:kept_on" });
  expect(await listNames(client)).toContain("cap__fs__kept_on");
});

/** Indexes with the condition of a query that each serves. */
test("[X-03] a program that an older version stored as code is a source of type code to every reader, and runs", async () => {
  const stored = await rows(`SELECT source FROM capability_versions WHERE record_id = '${old}' AND version < 3`);
  expect(stored).toEqual([{ source: null }, { source: null }]);
  const texts = { v1: "return 'kept 1'", v2: "return `kept 2 ${args.what}`" };
  for (const [version, code] of Object.entries(texts)) {
    const { value } = await callJson(client, "dns:whois", { fqdn: `${old}@${version}` });
    expect(value).toMatchObject({ source: { type: "code", code }, code_snippet: code });
    expect((await runPml(["code", `${old}@${version}`], { home: home.path })).stdout).toContain(code);
  }
  const kept = await runJson<{ source: unknown }>(["graph", old], { home: home.path });
  expect(kept.source).toEqual({ type: "code", code: texts.v2 });
  const run = await execute(client, { capability: `${old}@v2`, args: { what: "as source" } });
  expect(run.result).toBe("kept 2 as source");
});

const lookups = {
  "(org, project)": "org = 'local' AND project = 'default'",
  "(org, project, display_name)":
    "org = 'local' AND project = 'default' AND display_name = 'fs:a' AND deleted_at IS NULL",
  namespace: "org = 'local' AND project = 'default' AND namespace = 'fs'",
  created_by: "org = 'local' AND created_by = '019a0000-0000-7000-8000-000000000001'",
  "tags (GIN)": "tags @> '{old}'",
  visibility: "visibility = 'public'",
};

test("[13.1-AC2] records are found by scope, name, namespace, creator, tags and visibility through indexes", async () => {
  for (const [what, condition] of Object.entries(lookups)) {
    const plan = await rows<{ "QUERY PLAN": string }>(
      `SET enable_seqscan = off; EXPLAIN SELECT * FROM capability_records WHERE ${condition}; RESET enable_seqscan`,
    );
    const text = plan.map((line) => line["QUERY PLAN"]).join("\n");
    expect([what, text]).toEqual([
      what,
      expect.stringMatching(/Index.*Scan (?:using|on) capability_records_(?:public|.*Index Cond)/s),
    ]);
  }
  const [gin] = await rows(
    `SELECT 1 FROM pg_indexes WHERE tablename = 'capability_records' AND indexdef LIKE '%gin (tags)%'`,
  );
  expect(gin).toBeDefined();
});

const refusal = async (text: string): Promise<unknown> => {
  const error: unknown = await rows(text).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return (error as { code?: unknown } | undefined)?.code;
};
const copy = (table: string, columns: string, values: string): string =>
  `INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${table} WHERE org = 'local' AND `;
const alias = (name: string, recordId: string): string =>
  `INSERT INTO capability_aliases (org, project, alias, kind, record_id) VALUES ('local', 'default', '${name}', 'name', ${recordId})`;
const UNIQUE = "23505";
const FOREIGN_KEY = "23503";
const APPEND_ONLY = "23000";

test("[TS-D1] [S2-N1] records, versions, figures and aliases are tables with keys that the database itself holds to", async () => {
  const made = await execute(client, { code: "return 'tables'", name: "db:tables", version_tag: "v1.0.0" });
  const id = made.capabilityId;
  const records = "org, id, project, fqdn, display_name, namespace, action, hash";
  const record = (name: string, fqdn: string): string =>
    `${copy("capability_records", records, `org, gen_random_uuid(), project, ${fqdn}, ${name}, namespace, action, hash`)} id = '${id}'`;
  // a duplicate FQDN, then a duplicate name
  expect(await refusal(record("'db:other'", "fqdn"))).toBe(UNIQUE);
  expect(await refusal(record("display_name", "fqdn || '0'"))).toBe(UNIQUE);
  const apart = `SELECT fqdn FROM capability_records WHERE fqdn <> concat_ws('.', org, project, namespace, action, hash)`;
  expect(await rows(apart)).toEqual([]);

  const version = (recordId: string): string =>
    `${copy("capability_versions", "org, record_id, version, source_kind, source_hash", `org, ${recordId}, version, source_kind, source_hash`)} record_id = '${id}'`;
  expect(await refusal(version("record_id"))).toBe(UNIQUE);
  expect(await refusal(version("gen_random_uuid()"))).toBe(FOREIGN_KEY);
  expect(await refusal(`UPDATE capability_versions SET code_snippet = '' WHERE record_id = '${id}'`)).toBe(APPEND_ONLY);
  expect(await refusal(alias("fs:kept_before", `'${id}'`))).toBe(UNIQUE);
  expect(await refusal(alias("fs:nowhere", "gen_random_uuid()"))).toBe(FOREIGN_KEY);

  // one record spans three tables: name, code and statistics
  for (const [table, column] of [
    ["capability_records", "id"],
    ["capability_versions", "record_id"],
    ["capability_stat", "record_id"],
  ])
    expect([table, await rows(`SELECT 1 FROM ${table} WHERE org = 'local' AND ${column} = '${id}'`)]).toHaveProperty(
      "[1].length",
      1,
    );
  expect(await refusal(`DELETE FROM capability_records WHERE id = '${id}'`)).toBe(FOREIGN_KEY);
});

const columns = async (table: string): Promise<string[]> =>
  (
    await rows<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_name = $1`,
      table,
    )
  ).map(({ name }) => name);

test("[13.1-AC3] former names are rows of capability_aliases with scope, target and time, and all that a former name leads to", async () => {
  expect(await columns("capability_aliases")).toEqual(
    expect.arrayContaining(["alias", "org", "project", "record_id", "created_at"]),
  );
  const made = await execute(client, { code: "return 'by alias'", name: "api:before" });
  await callJson(client, "dns:rename", { name: "api:before", newName: "api:after" });
  const aliases = (kind: string): Promise<unknown[]> =>
    rows(
      `SELECT alias, org, project, record_id, kind FROM capability_aliases WHERE record_id = $1 AND kind = $2
        AND created_at BETWEEN now() - interval '1 minute' AND now()`,
      made.capabilityId,
      kind,
    );
  const scope = { org: "local", project: "default", record_id: made.capabilityId };
  expect(await aliases("name")).toEqual([{ ...scope, alias: "api:before", kind: "name" }]);
  expect(await aliases("fqdn")).toEqual([{ ...scope, alias: made.capabilityFqdn, kind: "fqdn" }]);
  // The row is what makes the former name work: with another target it leads there.
  expect(await callCapability(client, "cap:api:before")).toBe("by alias");
  const { capabilityId: other } = await execute(client, { code: "return 'elsewhere'", name: "api:elsewhere" });
  await rows(`UPDATE capability_aliases SET record_id = $1 WHERE alias = 'api:before'`, other);
  await callJson(client, "dns:tag", { name: "api:elsewhere", tags: ["change"] }); // names are looked up anew
  expect(await callCapability(client, "cap:api:before")).toBe("elsewhere");
});

test("[FR045] [13.12-AC1] versions are rows with number, tag, code, parameters, author, time and summary", async () => {
  const made = await execute(client, {
    code: "return args.n ?? 1",
    name: "db:rows",
    version_tag: "v1.0.0",
  });
  await callJson(client, "dns:update", {
    name: "db:rows",
    code: "return (args.n ?? 2) * 2",
    version_tag: "v1.1.0",
    change_summary: "twice",
  });
  const [author] = await rows<{ id: string }>(`SELECT id FROM principals WHERE org = 'local' AND name = 'test-client'`);
  const stored = await rows<{ created_at: Date }>(
    `SELECT record_id, version, version_tag, code_snippet, parameters_schema, created_by, created_at, change_summary
      FROM capability_versions WHERE record_id = $1 ORDER BY version`,
    made.capabilityId,
  );
  expect(stored).toMatchObject([
    {
      version: 1,
      version_tag: "v1.0.0",
      code_snippet: "return args.n ?? 1",
      parameters_schema: { properties: { n: { default: 1 } } },
      created_by: author?.id,
      change_summary: null,
    },
    {
      version: 2,
      version_tag: "v1.1.0",
      code_snippet: "return (args.n ?? 2) * 2",
      parameters_schema: { properties: { n: { default: 2 } } },
      created_by: author?.id,
      change_summary: "twice",
    },
  ]);
  const [first, second] = stored.map((row) => new Date(row.created_at).getTime());
  expect(second).toBeGreaterThan(first ?? Number.NaN);
});

test("[13.12-AC10] the database refuses to change or delete a version", async () => {
  const { capabilityId: id } = await execute(client, { code: "return 'for good'", name: "db:for_good" });
  const before = await rows(`SELECT * FROM capability_versions WHERE record_id = $1`, id);
  for (const change of [
    "code_snippet = 'return 1'",
    "version_tag = 'v9.9.9'",
    "parameters_schema = '{}'",
    "change_summary = 'another'",
    "created_at = now()",
    "version = 2",
  ])
    expect([change, await refusal(`UPDATE capability_versions SET ${change} WHERE record_id = '${id}'`)]).toEqual([
      change,
      APPEND_ONLY,
    ]);
  expect(await refusal(`DELETE FROM capability_versions WHERE record_id = '${id}'`)).toBe(APPEND_ONLY);
  expect(await rows(`SELECT * FROM capability_versions WHERE record_id = $1`, id)).toEqual(before);
});

test("[13.12-AC7] [FR046] a date leads to the version that was current at the end of that day, UTC", async () => {
  const { capabilityId: id } = await execute(client, { code: "return 'version 1'", name: "db:dated" });
  const versions = {
    2: "2025-12-20T10:00:00Z",
    3: "2025-12-22T00:00:00Z",
    4: "2025-12-22T23:59:59.999Z",
    5: "2025-12-23T00:00:00Z",
  };
  // As they would be if they had been made then. The first one was made today, and comes first all the same.
  for (const [version, at] of Object.entries(versions))
    await rows(
      `INSERT INTO capability_versions (org, record_id, version, source_kind, code_snippet, source_hash, structure, parameters_schema, created_at)
        SELECT org, record_id, $2, source_kind, $3, md5($3), structure, parameters_schema, $4::timestamptz
        FROM capability_versions WHERE record_id = $1 AND version = 1`,
      id,
      Number(version),
      `return 'version ${version}'`,
      at,
    );
  await rows(`UPDATE capability_records SET version = 5 WHERE id = $1`, id);
  const current = async (day: string): Promise<unknown> => (await callJson(client, `cap:db:dated@${day}`)).text;
  expect(await current("2025-12-19")).toBe("Version 2025-12-19 not found for db:dated");
  expect(await current("2025-12-20")).toBe('"version 2"');
  expect(await current("2025-12-21")).toBe('"version 2"');
  expect(await current("2025-12-22")).toBe('"version 4"');
  expect(await current("2025-12-23")).toBe('"version 5"');
  expect(await current("2026-01-31")).toBe('"version 5"');
  expect(await current("2025-13-01")).toBe("Version 2025-13-01 not found for db:dated");
  const { value } = await callJson(client, "dns:lookup", { name: "db:dated@2025-12-21" });
  expect(value).toMatchObject({ version: 2 });
});

const GATE = 4_711;
const facts = (): Promise<unknown> =>
  rows(`SELECT r.display_name, r.fqdn, (SELECT count(*)::int FROM capability_aliases a WHERE a.record_id = r.id) AS aliases,
    (SELECT count(*)::int FROM capability_rename_history h WHERE h.record_id = r.id) AS renames
    FROM capability_records r WHERE r.action LIKE 'whole%'`);

test("[NFR003] a rename is there as a whole, with its alias, or not at all", async () => {
  await execute(client, { code: "return 'whole'", name: "fs:whole" });
  const before = await facts();
  const trigger = (body: string): Promise<unknown> =>
    database.execute(`CREATE OR REPLACE FUNCTION hinder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$;
      CREATE OR REPLACE TRIGGER hinder BEFORE INSERT ON capability_rename_history FOR EACH ROW EXECUTE FUNCTION hinder()`);
  const rename = () => callJson(client, "dns:rename", { name: "fs:whole", newName: "fs:whole_new" });

  // the last statement fails, and the earlier ones are rolled back
  await trigger("RAISE EXCEPTION 'no more room';");
  await expect(rename().then(({ isError }) => isError)).resolves.toBe(true);
  expect(await facts()).toEqual(before);
  expect((await callJson(client, "cap:fs:whole")).meta).not.toHaveProperty(["dev.pml/warnings"]);

  // blocked before its last statement, it leaves others with the old state
  await trigger(`PERFORM pg_advisory_xact_lock(${GATE});`);
  let renaming: ReturnType<typeof rename> | undefined;
  await database.db.connection().execute(async (gate) => {
    await sql`SELECT pg_advisory_lock(${GATE})`.execute(gate);
    renaming = rename();
    await until("the rename waits", async () => {
      const waiting = await rows(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${GATE} AND NOT granted`,
      );
      return waiting.length === 1;
    });
    expect(await facts()).toEqual(before);
    expect((await callJson(client, "cap:fs:whole")).value).toBe("whole");
    await expect(callCapability(client, "cap:fs:whole_new")).rejects.toThrow("Capability not found");
    await sql`SELECT pg_advisory_unlock(${GATE})`.execute(gate);
  });
  expect((await renaming)?.isError).toBe(false);
  expect(await facts()).toMatchObject([{ display_name: "fs:whole_new", aliases: 2, renames: 1 }]);
  expect(await callCapability(client, "cap:fs:whole_new")).toBe("whole");
  expect((await callJson(client, "cap:fs:whole")).meta["dev.pml/warnings"]).toEqual([
    'Using deprecated alias "fs:whole" → "fs:whole_new"',
  ]);
});
