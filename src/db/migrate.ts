import { readdir, readFile } from "node:fs/promises";
import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { PmlError } from "../base/errors.ts";
import type { Db } from "./client.ts";

const MIGRATION_TABLE = "pml_migration";
const folder = new URL("./migrations/", import.meta.url);

/** Upgrades the schema to this version of PML. Several processes may try at once; one does it. */
export async function migrate(db: Db): Promise<void> {
  const migrations = await readMigrations();
  const applied = await readApplied(db);
  refuseNewerSchema(applied, migrations);
  if (applied.length === Object.keys(migrations).length) return; // the usual case; the migrator takes far longer to find that out
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: `${MIGRATION_TABLE}_lock`,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw new Error(`The database could not be migrated: ${describe(error)}`, { cause: error });
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql"));
  const entries = names.map(async (name): Promise<[string, Migration]> => {
    const text = await readFile(new URL(name, folder), "utf8");
    return [name.slice(0, -".sql".length), { up: async (db) => void (await sql.raw(text).execute(db)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function readApplied(db: Db): Promise<string[]> {
  const { rows } = await sql<{ exists: boolean }>`SELECT to_regclass(${MIGRATION_TABLE}) IS NOT NULL AS exists`.execute(
    db,
  );
  if (rows[0]?.exists !== true) return [];
  return (await db.selectFrom(MIGRATION_TABLE).select("name").execute()).map(({ name }) => name);
}

function refuseNewerSchema(applied: readonly string[], known: Readonly<Record<string, Migration>>): void {
  const unknown = applied.filter((name) => !(name in known));
  if (unknown.length === 0) return;
  throw new PmlError(
    "schema_newer",
    `The database was migrated by a newer PML (${unknown.join(", ")}). Nothing was changed`,
    {
      hint: "Use the newer version again: npm install pml@latest",
      details: { unknown },
    },
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
