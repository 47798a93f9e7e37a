import type { Client } from "@modelcontextprotocol/client";
import { type KyselyPlugin, RawNode, sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DatabaseClient } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { parseReference } from "../../src/registry/names.ts";
import { findRecord } from "../../src/registry/resolve-store.ts";
import { DEFAULT_SCOPE, OWNER } from "../../src/registry/scope.ts";
import { createServerDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callCapability, callJson, listNames } from "../support/names-scene.ts";
import { until } from "../support/pml.ts";

const COUNT = 10_000;
const FIRST_ID = "00000000-0000-7000-8000-000000000001";
const stack = new AsyncDisposableStack();
const CONFIG = { discovery: { tier: "lite" } };
let url: string;
let home: GatewayHome;
let client: Client;
let database: DatabaseClient;
beforeAll(async () => {
  url = await createServerDatabase();
  database = stack.use(await openPostgres({ url, poolSize: 2 }));
  await migrate(database.db);
  await fill(database, "local", COUNT);
  await sql`ANALYZE`.execute(database.db);
  home = stack.use(await startGateway({}, { env: { DATABASE_URL: url }, config: CONFIG }));
  ({ client } = stack.use(await connectClient(home.path, { transport: "http", era: "auto" })));
});
afterAll(() => stack.disposeAsync());

/** Inserts named capabilities as the product would have written them. */
async function fill({ db }: DatabaseClient, org: string, count: number): Promise<void> {
  const id = sql`('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  const each = sql`FROM generate_series(1, ${count}::int) AS n`;
  await sql`INSERT INTO capability_records (org, project, id, fqdn, display_name, namespace, action, hash, state, description)
    SELECT ${org}, 'default', ${id}, ${org} || '.default.fs.action_' || n || '.abcd', 'fs:action_' || n, 'fs', 'action_' || n, 'abcd',
      'active', 'Does number ' || n ${each}`.execute(db);
  await sql`INSERT INTO capability_versions (org, record_id, version, source_kind, code_snippet, source_hash, structure, parameters_schema)
    SELECT ${org}, ${id}, 1, 'code', 'return ' || n, md5(n::text), '{"nodes":[],"edges":[]}', '{"type":"object"}' ${each}`.execute(
    db,
  );
  await sql`INSERT INTO capability_stat (org, record_id, usage_count) SELECT ${org}, ${id}, n ${each}`.execute(db);
}

const dryRun = async (name: string): Promise<string> =>
  (await execute(client, { capability: name, options: { dry_run: true } })).status;

test("[NFR001] a name that was looked up is known in memory; one that was not waits for the database", async () => {
  expect(await dryRun("fs:action_77")).toBe("dry_run");
  const order: string[] = [];
  let late: Promise<unknown> | undefined;
  // while the records are locked, only cached names resolve
  await database.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE capability_records, capability_aliases IN ACCESS EXCLUSIVE MODE`.execute(tx);
    late = dryRun("fs:action_78").then((status) => order.push(`unknown ${status}`));
    await until("the unknown name waits for the table", async () => {
      const { rows } =
        await sql`SELECT 1 FROM pg_locks WHERE relation = 'capability_records'::regclass AND NOT granted`.execute(tx);
      return rows.length > 0;
    });
    for (let time = 0; time < 3; time++) order.push(`known ${await dryRun("fs:action_77")}`);
  });
  await late;
  expect(order).toEqual(["known dry_run", "known dry_run", "known dry_run", "unknown dry_run"]);
});

/** Has every raw statement explained instead of run. */
function explainInto(plans: string[]): KyselyPlugin {
  return {
    transformQuery: ({ node }) => {
      if (!RawNode.is(node)) return node;
      const [first = "", ...others] = node.sqlFragments;
      return { ...node, sqlFragments: [`EXPLAIN ${first}`, ...others] };
    },
    transformResult: ({ result }) => {
      plans.push(result.rows.map((row) => String(row["QUERY PLAN"])).join("\n"));
      return Promise.resolve({ ...result, rows: [] });
    },
  };
}

const owner = { scope: DEFAULT_SCOPE, principal: OWNER };

test("[NFR001] one look into indexes finds the record of a name, a former name, an FQDN and an id", async () => {
  const plans: string[] = [];
  const db = database.db.withPlugin(explainInto(plans));
  const references = ["fs:action_78", "local.default:fs:action_78", "local.default.fs.action_78.abcd", FIRST_ID];
  for (const reference of references) await findRecord(db, owner, parseReference(reference));
  expect(plans).toHaveLength(references.length);
  for (const plan of plans) expect(plan).toMatch(/Index/);
  expect(plans.join("\n")).not.toContain("Seq Scan on capability_records");
});

test("[NFR008] with ten thousand names lists stay short, pages go through them, and each can be called", async () => {
  const listed = await listNames(client);
  expect(listed.length).toBeLessThanOrEqual(40);
  expect(listed).toContain("cap__fs__action_10000"); // one of the most used
  expect(await callCapability(client, "cap:fs:action_9999")).toBe(9_999);
  expect(await callCapability(client, "cap__fs__action_1")).toBe(1);
  const seen = new Set<string>();
  let cursor: string | undefined;
  type Page = { records: { display_name: string }[]; next_cursor: string | null; total: number | null };
  for (let page = 0; page < 3; page++) {
    const request = { namespace: "fs", limit: 100, ...(cursor === undefined ? {} : { cursor }) };
    const { value } = await callJson<Page>(client, "dns:query", request);
    expect(value.total).toBe(page === 0 ? COUNT : null);
    for (const { display_name: name } of value.records) seen.add(name);
    cursor = value.next_cursor ?? undefined;
  }
  expect(seen.size).toBe(300);
  const taken = await execute(client, { code: "return 0", name: "fs:action_5000" });
  expect(taken.error?.code).toBe("capability_name_taken");
  await callJson(client, "dns:rename", { name: "fs:action_5000", newName: "fs:middle" });
  expect(await callCapability(client, "cap:fs:middle")).toBe(5_000);
  expect(await callCapability(client, "cap:fs:action_5000")).toBe(5_000);
});
