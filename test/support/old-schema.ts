import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { sql } from "kysely";
import { Migrator } from "kysely/migration";
import { v7 as newId } from "uuid";
import type { Db } from "../../src/db/client.ts";

const folder = new URL("../../src/db/migrations/", import.meta.url);
export const migrationFiles = readdirSync(folder).toSorted();

/** Migrates to an earlier schema, recorded as the product records it. */
export async function migrateUpTo(db: Db, count: number): Promise<void> {
  const migrations = migrationFiles.slice(0, count).map((file) => {
    const text = readFileSync(new URL(file, folder), "utf8");
    return [file.slice(0, -".sql".length), { up: async (tx: Db) => void (await sql.raw(text).execute(tx)) }] as const;
  });
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(migrations) },
    migrationTableName: "pml_migration",
    migrationLockTableName: "pml_migration_lock",
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw new Error("the old schema could not be made", { cause: error });
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Seeds a capability with two versions, counters and a former name, as the first schema could hold it. */
export async function seedOldCapability(db: Db): Promise<string> {
  const id = newId();
  await sql`
    INSERT INTO capability_records (org, id, project, fqdn, display_name, namespace, action, hash, state, version, tags)
    VALUES ('local', ${id}, 'default', 'local.default.fs.kept.0ld1', 'fs:kept', 'fs', 'kept', '0ld1', 'active', 2, '{old}')`.execute(
    db,
  );
  for (const [version, code] of [
    [1, "return 'kept 1'"],
    [2, "return `kept 2 ${args.what}`"],
  ] as const)
    await sql`
      INSERT INTO capability_versions (org, record_id, version, source_kind, code_snippet, source_hash, parameters_schema)
      VALUES ('local', ${id}, ${version}, 'code', ${code}, ${hash(code)}, '{"type":"object","properties":{"what":{"default":"well"}}}')`.execute(
      db,
    );
  await sql`INSERT INTO capability_stat (org, record_id, usage_count, success_count, total_latency_ms)
    VALUES ('local', ${id}, 40, 30, 900)`.execute(db);
  await sql`INSERT INTO capability_aliases (org, project, alias, kind, record_id)
    VALUES ('local', 'default', 'fs:kept_before', 'name', ${id})`.execute(db);
  return id;
}
