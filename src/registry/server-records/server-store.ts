import { sql } from "kysely";
import { type Asker, type Scope, STANDARD_SCOPE } from "../scope.ts";
import type { Routing } from "../record.ts";
import type { Visibility } from "../record-words.ts";
import { visibleTo } from "../visibility.ts";
import type { Db, Tx } from "../../db/client.ts";

/** An MCP server's record with one of its versions. */
export interface StoredServer {
  readonly org: string;
  readonly id: string;
  readonly displayName: string;
  readonly version: number;
  readonly visibility: Visibility;
  /** The `server.json`, byte for byte. */
  readonly text: string;
  readonly registryName: string;
}

interface StoredServerRow {
  org: string;
  id: string;
  display_name: string;
  version: number;
  visibility: Visibility;
  code_snippet: string;
  registry_name: string;
}

const SERVER = sql`SELECT r.org, r.id, r.display_name, v.version, r.visibility, v.code_snippet,
    v.source ->> 'registryName' AS registry_name
  FROM capability_records r JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id`;

/** Finds the server of this scope that has the registry name. */
export async function findByRegistryName(
  db: Db | Tx,
  { org, project }: Scope,
  registryName: string,
): Promise<StoredServer | undefined> {
  const { rows } = await sql<StoredServerRow>`${SERVER}
    WHERE r.org = ${org} AND r.project = ${project} AND r.record_type = 'mcp-server' AND r.deleted_at IS NULL
      AND v.version = r.version AND v.source ->> 'registryName' = ${registryName}
    ORDER BY r.display_name LIMIT 1`.execute(db);
  return rows[0] && toServer(rows[0]);
}

/** Lists all versions of a server, oldest first. */
export async function listServerVersions(
  db: Db | Tx,
  { org, id }: { readonly org: string; readonly id: string },
): Promise<StoredServer[]> {
  const { rows } = await sql<StoredServerRow>`${SERVER}
    WHERE r.org = ${org} AND r.id = ${id} AND v.source_kind = 'server' ORDER BY v.version`.execute(db);
  return rows.map(toServer);
}

/** Lists versions of all servers with this name that the caller may see, shipped ones first. */
export async function listVisibleVersions(db: Db, asker: Asker, displayName: string): Promise<StoredServer[]> {
  const { rows } = await sql<StoredServerRow>`${SERVER}
    WHERE r.display_name = ${displayName} AND r.record_type = 'mcp-server' AND r.deleted_at IS NULL
      AND v.source_kind = 'server' AND ${visibleTo(asker)}
    ORDER BY r.org <> ${STANDARD_SCOPE.org}, r.fqdn, v.version`.execute(db);
  return rows.map(toServer);
}

function toServer(row: StoredServerRow): StoredServer {
  return {
    org: row.org,
    id: row.id,
    displayName: row.display_name,
    version: row.version,
    visibility: row.visibility,
    text: row.code_snippet,
    registryName: row.registry_name,
  };
}

export interface NewServer {
  readonly id: string;
  /** Without `mcp:`. */
  readonly name: string;
  readonly fqdn: string;
  readonly hash: string;
  readonly description: string;
  readonly visibility: Visibility;
  /** Packages run locally, remote servers in the cloud. */
  readonly routing: Routing;
  readonly createdBy: string | null;
}

/** Returns whether the record is new. Throws a database error if another record holds the name. */
export async function insertServer(tx: Tx, { org, project }: Scope, server: NewServer): Promise<boolean> {
  const { id, name, fqdn, hash, description, visibility, routing, createdBy } = server;
  const inserted = await tx
    .insertInto("capability_records")
    .values({
      org,
      project,
      id,
      record_type: "mcp-server",
      fqdn,
      display_name: `mcp:${name}`,
      namespace: "mcp",
      action: name,
      hash,
      state: "active",
      visibility,
      routing,
      description,
      created_by: createdBy,
      updated_by: createdBy,
    })
    .onConflict((conflict) => conflict.columns(["org", "id"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) return false;
  await tx.insertInto("capability_stat").values({ org, record_id: id }).execute();
  return true;
}

export interface NewServerVersion {
  readonly id: string;
  readonly version: number;
  readonly versionTag: string;
  readonly text: string;
  readonly registryName: string;
  readonly sourceHash: string;
  readonly signature: string;
  readonly createdBy: string | null;
}

export async function insertServerVersion(tx: Tx, { org }: Scope, version: NewServerVersion): Promise<void> {
  await tx
    .insertInto("capability_versions")
    .values({
      org,
      record_id: version.id,
      version: version.version,
      version_tag: version.versionTag,
      source_kind: "server",
      code_snippet: version.text,
      source: JSON.stringify({ registryName: version.registryName }),
      source_hash: version.sourceHash,
      signature: version.signature,
      created_by: version.createdBy,
    })
    .execute();
}

interface VersionPointer {
  readonly id: string;
  readonly version: number;
  readonly versionTag: string;
}

/** Sets the version that a reference without a version resolves to. */
export async function pointAtVersion(
  tx: Tx,
  { org }: Scope,
  { id, version, versionTag }: VersionPointer,
): Promise<void> {
  await tx
    .updateTable("capability_records")
    .set({ version, version_tag: versionTag, updated_at: new Date() })
    .where("org", "=", org)
    .where("id", "=", id)
    .execute();
}
