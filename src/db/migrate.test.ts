import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { sql } from "kysely";
import { parseSync } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { createServerDatabase, engines, openTestDatabase } from "../../test/support/databases.ts";
import { migrateUpTo, migrationFiles, seedOldCapability } from "../../test/support/old-schema.ts";
import type { DatabaseClient } from "./client.ts";
import { migrate } from "./migrate.ts";
import { openPostgres } from "./open-postgres.ts";

const folder = new URL("./migrations/", import.meta.url);

test("released migrations are never edited", () => {
  const hashes = readdirSync(folder).map((name) => [
    name,
    createHash("sha256")
      .update(readFileSync(new URL(name, folder)))
      .digest("hex")
      .slice(0, 16),
  ]);
  expect(Object.fromEntries(hashes)).toMatchInlineSnapshot(`
    {
      "0001_foundation.sql": "0d93c7482771c45f",
      "0002_gateway.sql": "77337f65300d9067",
      "0003_upstream.sql": "5813fb9f2dd71e85",
      "0004_results.sql": "7716dd3a6a70703e",
      "0005_permissions.sql": "81162f3ab2e001fa",
      "0006_execution.sql": "572ed3ec7d81d3a4",
      "0007_names.sql": "7e98a71600eafd37",
      "0008_routing.sql": "7abf0718f3bb6ac8",
      "0009_curation.sql": "14082697835e8bbc",
      "0010_discovery.sql": "9d2feb67ea0d9654",
      "0011_orders.sql": "9e5ebf1a745ff94c",
      "0012_usage.sql": "89264a7885ea999f",
      "0013_permission_sets.sql": "6dc926ca4821d9c1",
      "0014_feedback.sql": "b980832688c6b054",
      "0015_imports.sql": "77b61afd354f3e4d",
      "0016_bindings.sql": "bfbfbafac0b6f24a",
      "0017_authors.sql": "34112eab0b9fee6e",
      "0018_intent_order.sql": "69744135348aa5e4",
      "0019_recall_decisions.sql": "af5bccc4088c8268",
      "0020_behaviour.sql": "f9606a85e9e865af",
    }
  `);
});

describe.each(engines)("migrate on %s", (engine) => {
  test("changes nothing when it runs again", async () => {
    await using client = await openTestDatabase(engine);
    const before = await readColumns(client);
    await migrate(client.db);
    expect(await readColumns(client)).toEqual(before);
  });

  test("refuses the database of a newer PML and leaves it unchanged", async () => {
    await using client = await openTestDatabase(engine);
    await client.execute("INSERT INTO pml_migration (name, timestamp) VALUES ('9999_future', 'now')");
    await expect(migrate(client.db)).rejects.toMatchObject({ code: "schema_newer", message: /9999_future/ });
  });

  test("gives every table the columns of its type", async () => {
    await using client = await openTestDatabase(engine);
    expect(readTableTypes()).toEqual(await readColumns(client));
  });
});

test("migrate upgrades a database from every earlier migration and keeps its data", async () => {
  for (let at = 1; at <= migrationFiles.length; at++) {
    await using client = await openPostgres({ url: await createServerDatabase(), poolSize: 1 });
    await migrateUpTo(client.db, at);
    await seedOldCapability(client.db);
    const before = await readKept(client);
    await migrate(client.db);
    expect([at, await readKept(client)]).toEqual([at, before]);
    expect(before).toHaveLength(2);
  }
});

test("migrate runs once when four processes try at the same time, and all succeed", async () => {
  const url = await createServerDatabase();
  const clients = await Promise.all(Array.from({ length: 4 }, () => openPostgres({ url, poolSize: 2 })));
  await Promise.all(clients.map(({ db }) => migrate(db)));
  const { rows } = await sql`SELECT name FROM pml_migration`.execute(clients[0]!.db);
  expect(rows).toHaveLength(readdirSync(folder).length);
  for (const client of clients) await client[Symbol.asyncDispose]();
});

async function readKept({ db }: Pick<DatabaseClient, "db">): Promise<unknown[]> {
  const { rows } = await sql`
    SELECT r.id, r.fqdn, r.tags, r.state, v.version, v.code_snippet, s.usage_count, a.alias
    FROM capability_records r JOIN capability_versions v ON v.record_id = r.id
    JOIN capability_stat s ON s.record_id = r.id JOIN capability_aliases a ON a.record_id = r.id
    ORDER BY v.version`.execute(db);
  return rows;
}

async function readColumns(client: Awaited<ReturnType<typeof openTestDatabase>>): Promise<Record<string, string[]>> {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    SELECT table_name::text AS table, array_agg(column_name::text ORDER BY column_name::text COLLATE "C") AS columns
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'pml_migration_lock'
    GROUP BY table_name ORDER BY table_name`.execute(client.db);
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]));
}

interface InterfaceNode {
  readonly id: { readonly name: string };
  readonly body: {
    readonly body: readonly {
      readonly key: { readonly name: string };
      readonly typeAnnotation: { readonly typeAnnotation: { readonly typeName?: { readonly name: string } } };
    }[];
  };
}

/** Reads the table interfaces from their source, because types do not exist at run time. */
function readTableTypes(): Record<string, string[]> {
  const here = new URL("./", import.meta.url);
  const files = readdirSync(here).filter((name) => name.endsWith("tables.ts"));
  const nodes = files
    .flatMap((name) => parseSync(name, readFileSync(new URL(name, here), "utf8")).program.body)
    .map((node) => (node.type === "ExportNamedDeclaration" ? node.declaration : node));
  const interfaces = nodes.filter((node) => node?.type === "TSInterfaceDeclaration") as unknown as InterfaceNode[];
  const columns = new Map(interfaces.map(({ id, body }) => [id.name, body.body.map(({ key }) => key.name).toSorted()]));
  const tables = interfaces.find(({ id }) => id.name === "Tables");
  return Object.fromEntries(
    (tables?.body.body ?? []).map(({ key, typeAnnotation }) => [
      key.name,
      columns.get(typeAnnotation.typeAnnotation.typeName?.name ?? "") ?? [],
    ]),
  );
}
