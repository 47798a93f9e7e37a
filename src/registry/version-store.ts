import { sql } from "kysely";
import type { Db, Tx } from "../db/client.ts";
import type { PreparedSource } from "./capability.ts";
import type { Scope } from "./scope.ts";
import type { VersionSummary } from "./specifier.ts";

export interface NewVersionRow extends Omit<PreparedSource, "calls"> {
  readonly recordId: string;
  readonly version: number;
  readonly versionTag?: string | undefined;
  readonly changeSummary?: string | undefined;
  readonly by: string | null;
}

export async function writeVersion(tx: Tx, { org }: Scope, row: NewVersionRow): Promise<void> {
  const { source } = row;
  await tx
    .insertInto("capability_versions")
    .values({
      org,
      record_id: row.recordId,
      version: row.version,
      version_tag: row.versionTag ?? null,
      source_kind: source.type,
      code_snippet: source.type === "code" ? source.code : null,
      source: source.type === "code" ? null : JSON.stringify(source),
      source_hash: row.sourceHash,
      behaviour_key: row.behaviourKey ?? null,
      structure: JSON.stringify(row.structure),
      parameters_schema: JSON.stringify(row.parameters),
      tools_used: [...row.toolsUsed],
      signature: row.signature ?? `sha256:${row.sourceHash}`,
      change_summary: row.changeSummary ?? null,
      created_by: row.by,
    })
    .execute();
}

export async function readVersionSummaries(db: Db | Tx, org: string, recordId: string): Promise<VersionSummary[]> {
  const rows = await db
    .selectFrom("capability_versions")
    .select(["version", "version_tag", "created_at"])
    .where("org", "=", org)
    .where("record_id", "=", recordId)
    .orderBy("version")
    .execute();
  return rows.map(({ version, version_tag: tag, created_at: createdAt }) => ({
    version,
    versionTag: tag ?? undefined,
    createdAt,
  }));
}

/** Records the capabilities that a version's text calls, before it ever runs. */
export async function insertDependencies(
  tx: Tx,
  { org }: Scope,
  { from, version, to }: { readonly from: string; readonly version: number; readonly to: readonly string[] },
): Promise<void> {
  const others = [...new Set(to)].filter((each) => each !== from);
  if (others.length === 0) return;
  await tx
    .insertInto("capability_dependency")
    .values(others.map((each) => ({ org, from_record_id: from, from_version: version, to_record_id: each })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function setCurrentVersion(
  tx: Tx,
  { org }: Scope,
  row: Pick<NewVersionRow, "recordId" | "version" | "versionTag" | "by">,
): Promise<void> {
  await tx
    .updateTable("capability_records")
    .set({
      version: row.version,
      version_tag: row.versionTag ?? null,
      verified: false,
      updated_by: row.by,
      updated_at: sql`now()`,
    })
    .where("org", "=", org)
    .where("id", "=", row.recordId)
    .execute();
}

/** Maps a source hash to this version, unless another live named record already holds the hash. */
export async function setSource(
  tx: Tx,
  { org, project }: Scope,
  { sourceHash, recordId, version }: { sourceHash: string; recordId: string; version: number },
): Promise<void> {
  await sql`
    INSERT INTO capability_source AS s (org, project, source_hash, record_id, version)
    VALUES (${org}, ${project}, ${sourceHash}, ${recordId}, ${version})
    ON CONFLICT (org, project, source_hash) DO UPDATE SET record_id = excluded.record_id, version = excluded.version
    WHERE s.record_id = excluded.record_id OR NOT EXISTS (
      SELECT 1 FROM capability_records r WHERE r.org = s.org AND r.id = s.record_id AND r.deleted_at IS NULL
        AND r.display_name NOT LIKE 'unnamed\\_%')`.execute(tx);
}

/** Copies a version to another record and returns its source hash. */
export async function copyVersion(
  tx: Tx,
  {
    from,
    to,
    version,
  }: { from: { org: string; id: string; version: number }; to: { org: string; id: string }; version: number },
  { versionTag, changeSummary, by }: Pick<NewVersionRow, "versionTag" | "changeSummary" | "by">,
): Promise<string> {
  const { rows } = await sql<{ source_hash: string }>`
    INSERT INTO capability_versions (org, record_id, version, version_tag, source_kind, code_snippet, source, source_hash,
      behaviour_key, structure, parameters_schema, tools_used, change_summary, signature, created_by)
    SELECT ${to.org}, ${to.id}, ${version},
      coalesce(${versionTag ?? null}, CASE source_kind WHEN 'server' THEN version_tag END), source_kind, code_snippet, source, source_hash,
      behaviour_key, structure, parameters_schema, tools_used, ${changeSummary ?? null}, signature, ${by}
    FROM capability_versions WHERE org = ${from.org} AND record_id = ${from.id} AND version = ${from.version}
    RETURNING source_hash`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error(`version ${from.version} of ${from.id} does not exist`);
  return row.source_hash;
}

export async function nextVersion(tx: Tx, { org }: Scope, recordId: string): Promise<number> {
  const row = await tx
    .selectFrom("capability_versions")
    .select(({ fn }) => fn.max("version").as("last"))
    .where("org", "=", org)
    .where("record_id", "=", recordId)
    .executeTakeFirst();
  return (row?.last ?? 0) + 1;
}

/** Marks a version as verified by the replay of a run that happened here, if it is still current. */
export async function markVerified(
  db: Db,
  { org }: Scope,
  { id, version, runId }: { readonly id: string; readonly version: number; readonly runId: string },
): Promise<void> {
  await db
    .updateTable("capability_records")
    .set({ verified: true })
    .where("org", "=", org)
    .where("id", "=", id)
    .where("version", "=", version)
    .where("verified", "=", false)
    .where(
      sql<boolean>`NOT EXISTS (SELECT 1 FROM execution_run r WHERE r.org = ${org} AND r.id = ${runId} AND r.imported_at IS NOT NULL)`,
    )
    .execute();
}
