import { sql } from "kysely";
import { DEFAULT_SCOPE } from "../../src/registry/scope.ts";
import type { DatabaseClient } from "../../src/db/client.ts";

/** Adds names up to this count, with one alias each and different usage counts. */
export async function fillNames({ db }: DatabaseClient, count: number): Promise<void> {
  const { org, project } = DEFAULT_SCOPE;
  const { rows } = await sql<{ there: number }>`
    SELECT count(*) AS there FROM capability_records WHERE org = ${org} AND record_type = 'capability'`.execute(db);
  const from = rows[0]?.there ?? 0;
  const id = sql`('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  const each = sql`FROM generate_series(${from + 1}::int, ${count}::int) AS n`;
  await sql`INSERT INTO capability_records (org, project, id, fqdn, display_name, namespace, action, hash, state, description, routing, created_at)
    SELECT ${org}, ${project}, ${id}, 'local.default.fs.action_' || n || '.abcd', 'fs:action_' || n, 'fs', 'action_' || n, 'abcd',
      'active', 'Does number ' || n, 'cloud', now() - n * interval '1 second' ${each}`.execute(db);
  await sql`INSERT INTO capability_versions (org, record_id, version, source_kind, code_snippet, source_hash, structure, parameters_schema)
    SELECT ${org}, ${id}, 1, 'code', 'return ' || n, md5(n::text), '{"nodes":[],"edges":[]}',
      '{"type":"object","properties":{"path":{"type":"string"}}}' ${each}`.execute(db);
  await sql`INSERT INTO capability_stat (org, record_id, usage_count, success_count)
    SELECT ${org}, ${id}, n % 1000, n % 1000 ${each}`.execute(db);
  await sql`INSERT INTO capability_aliases (org, project, alias, kind, record_id)
    SELECT ${org}, ${project}, 'fs:old_' || n, 'name', ${id} ${each}`.execute(db);
  await sql`ANALYZE`.execute(db);
}
