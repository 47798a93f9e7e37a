/** `pml curate` goes through everything that has no name, in pages. */
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DatabaseClient } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { curate } from "../support/curation.ts";
import { createServerDatabase } from "../support/databases.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";
import { type Keystroke, runInTerminal } from "../support/pty.ts";

/** More than the largest page has. */
const COUNT = 250;
const stack = new AsyncDisposableStack();
let home: GatewayHome;

interface Page {
  readonly suggestions: readonly { readonly id: string; readonly suggestedName: string }[];
  readonly next_cursor: string | null;
}

const readJson = <T>(...args: readonly string[]): Promise<T> => runJson<T>(["curate", ...args], { home: home.path });

beforeAll(async () => {
  const url = await createServerDatabase();
  const database = stack.use(await openPostgres({ url, poolSize: 2 }));
  await migrate(database.db);
  await fill(database);
  const config = { discovery: { tier: "lite" }, curation: { afterUnnamed: 0 } };
  home = stack.use(await startGateway({}, { env: { DATABASE_URL: url }, config }));
});
afterAll(() => stack.disposeAsync());

/** Inserts capabilities without a name as the product would have written them; many are used equally often. */
async function fill({ db }: DatabaseClient): Promise<void> {
  const id = sql`('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  const hash = sql`lpad(to_hex(n), 8, '0')`;
  const each = sql`FROM generate_series(1, ${COUNT}::int) AS n`;
  await sql`INSERT INTO capability_records (org, project, id, fqdn, display_name, namespace, action, hash, state, description)
    SELECT 'local', 'default', ${id}, 'local.default.shop.exec_' || ${hash} || '.' || ${hash}, 'unnamed_' || ${hash}, 'shop',
      'exec_' || ${hash}, ${hash}, 'active', 'Cancel an order' ${each}`.execute(db);
  await sql`INSERT INTO capability_versions (org, record_id, version, source_kind, code_snippet, source_hash, structure, parameters_schema, tools_used)
    SELECT 'local', ${id}, 1, 'code', 'return await mcp.shop.cancel_order({ order_id: args.order_id, n: ' || n || ' })', md5(n::text),
      '{"nodes":[],"edges":[]}', '{"type":"object"}', ARRAY['shop:cancel_order'] ${each}`.execute(db);
  await sql`INSERT INTO capability_stat (org, record_id, usage_count) SELECT 'local', ${id}, n % 7 ${each}`.execute(db);
}

test("without a limit, everything is proposed a name, each another one", async () => {
  const { suggestions, next_cursor: next } = await readJson<Page>();
  expect(new Set(suggestions.map(({ id }) => id)).size).toBe(COUNT);
  expect(new Set(suggestions.map(({ suggestedName }) => suggestedName)).size).toBe(COUNT);
  expect(next).toBeNull();
});

test("--limit is one page, and --cursor the next, until everything was seen once", async () => {
  const first = await readJson<Page>("--limit", "90");
  expect(first.suggestions).toHaveLength(90);
  const seen = first.suggestions.map(({ id }) => id);
  let next = first.next_cursor;
  for (; next !== null && seen.length < 2 * COUNT;) {
    const page: Page = await readJson<Page>("--limit", "90", "--cursor", next);
    seen.push(...page.suggestions.map(({ id }) => id));
    next = page.next_cursor;
  }
  expect(seen).toHaveLength(COUNT);
  expect(new Set(seen).size).toBe(COUNT);
  const told = await runPml(["curate", "--limit", "90"], { home: home.path });
  expect(told.stderr).toContain(`pml curate --cursor ${first.next_cursor}`);
  const foreign = await runPml(["curate", "--cursor", "bm90IG91cnM"], { home: home.path });
  expect(foreign.code).not.toBe(0);
  expect(foreign.stderr).toContain("Take next_cursor of the page before.");
});

test("agents turn the pages of pml_curate_capabilities", async () => {
  await using connected = await connectClient(home.path, { transport: "http", era: "auto" });
  const seen = new Set<string>();
  let cursor: string | null | undefined;
  for (let page = 0; cursor !== null && page < COUNT; page += 1) {
    const request = cursor === undefined ? {} : { cursor };
    const { suggestions, next_cursor: next } = await curate(connected.client, request);
    for (const { id } of suggestions) seen.add(id);
    cursor = next;
  }
  expect(seen.size).toBe(COUNT);
});

function answer(press: string): Keystroke {
  return { after: "[later] ", press };
}

test("at a terminal, the answers about a page are kept before the next one is shown", async () => {
  const later = Array.from({ length: 19 }, () => answer("\r"));
  const keys = [answer("y\r"), ...later, answer("y\r"), answer("q\r")];
  const { code, screen } = await runInTerminal(["curate"], { home: home.path }, keys);
  expect([code, screen.match(/✓ unnamed_/g)]).toEqual([0, ["✓ unnamed_", "✓ unnamed_"]]);
  expect((await readJson<{ accepted: number }>("--stats")).accepted).toBe(2);
});

test("--auto goes through everything as well", async () => {
  const { applied, next_cursor: next } = await readJson<{ applied: readonly unknown[]; next_cursor: string | null }>(
    "--auto",
    "--min-confidence",
    "0.1",
  );
  expect(applied).toHaveLength(COUNT - 2);
  expect(next).toBeNull();
  expect((await runPml(["curate"], { home: home.path, input: "" })).stdout).toContain("Everything has a name");
});
