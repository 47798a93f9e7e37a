import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { sql } from "kysely";
import { setEngineFlags } from "../../src/base/engine-flags.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import { exportMemory } from "../../src/housekeeping/export-memory.ts";
import { importPath } from "../../test/support/transfer.ts";
import type { BenchEngine, Transferred } from "./engine.ts";
import { ORG, RUN_ID, SAMPLE_SCOPE } from "./sample-data.ts";

export async function openPmlPglite(home: string): Promise<BenchEngine> {
  setEngineFlags();
  await using opening = new AsyncDisposableStack();
  const client = opening.use(await openEmbedded(opening.use(acquireOwnership(home))));
  await migrate(client.db);
  return createEngine(client, opening.move());
}

export async function openPmlPostgres(url: string): Promise<BenchEngine> {
  await using opening = new AsyncDisposableStack();
  const client = opening.use(await openPostgres({ url, poolSize: 2 }));
  await migrate(client.db);
  return createEngine(client, opening.move());
}

function createEngine(client: DatabaseClient, opened: AsyncDisposableStack): BenchEngine {
  const { db } = client;
  return {
    script: (statements) => client.execute(statements),
    lookup: ({ project, displayName }) =>
      db
        .selectFrom("capability_records")
        .select(["id", "fqdn", "version", "state", "visibility"])
        .where("org", "=", ORG)
        .where("project", "=", project)
        .where("display_name", "=", displayName)
        .where("deleted_at", "is", null)
        .executeTakeFirstOrThrow(),
    insertUsage: (id) =>
      db
        .insertInto("tool_usage")
        .values({
          org: ORG,
          id,
          project: "project-0",
          server_id: "billing",
          tool_name: "send",
          outcome: "success",
          duration_ms: 12.5,
        })
        .execute(),
    insertJournal: (rows) =>
      sql`INSERT INTO run_journal (org, run_id, seq, kind, node_id, tool_id, payload)
        SELECT ${ORG}, ${RUN_ID}::uuid, seq, kind, node_id, tool_id, payload
        FROM jsonb_to_recordset(${rows}::jsonb)
          AS r(seq int, kind text, node_id text, tool_id text, payload jsonb)`.execute(db),
    exportTo: (path) => exportTo(client, path),
    importFrom: async (path) => {
      const { rows } = await importPath(client, path, SAMPLE_SCOPE);
      return { rows };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function exportTo(client: DatabaseClient, path: string): Promise<Transferred> {
  const file = createWriteStream(path);
  const { rows, rows_sha256 } = await exportMemory(client, SAMPLE_SCOPE, async (lines) => {
    if (!file.write(lines)) await once(file, "drain");
  });
  file.end();
  await finished(file);
  return { rows, digest: rows_sha256 };
}
