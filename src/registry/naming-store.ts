import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db, Tx } from "../db/client.ts";
import { authorId } from "./author-store.ts";
import { formatFqdn, type NameParts } from "./fqdn.ts";
import type { ChangedVia } from "./registry.ts";
import type { FoundRecord } from "./resolve-store.ts";
import type { Asker, Scope } from "./scope.ts";
import { visibleTo } from "./visibility.ts";

/** Serialises name changes of a scope: names, aliases and reservations are checked together. */
export async function lockNames(tx: Tx, { org, project }: Scope): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`names ${org}/${project}`}, 0))`.execute(tx);
}

/** The record that holds a name. */
export type NameHolder = {
  readonly id: string;
  readonly displayName: string;
  /** False for a record that the caller may not see. */
  readonly visible: boolean;
} & ({ readonly kind: "record" | "alias" } | { readonly kind: "reserved"; readonly until: Date });

interface HolderRow {
  kind: NameHolder["kind"];
  id: string;
  display_name: string;
  until: Date;
  visible: boolean;
}

export async function findNameHolder(
  tx: Db | Tx,
  asker: Asker,
  { name, reserveDays }: { readonly name: string; readonly reserveDays: number },
): Promise<NameHolder | undefined> {
  const { org, project } = asker.scope;
  const visible = visibleTo(asker);
  const { rows } = await sql<HolderRow>`
    SELECT 1 AS rank, 'record' AS kind, r.id, r.display_name, NULL::timestamptz AS until, ${visible} AS visible
      FROM capability_records r
      WHERE r.org = ${org} AND r.project = ${project} AND r.display_name = ${name} AND r.deleted_at IS NULL
    UNION ALL SELECT 2, 'alias', r.id, r.display_name, NULL, ${visible} FROM capability_aliases a
      JOIN capability_records r ON r.org = a.org AND r.id = a.record_id
      WHERE a.org = ${org} AND a.project = ${project} AND a.alias = ${name} AND r.deleted_at IS NULL
    UNION ALL SELECT 3, 'reserved', r.id, r.display_name, r.deleted_at + make_interval(secs => ${reserveDays * 86_400}), ${visible}
      FROM capability_records r WHERE r.org = ${org} AND r.project = ${project} AND r.display_name = ${name}
        AND r.deleted_at > now() - make_interval(secs => ${reserveDays * 86_400})
    ORDER BY rank LIMIT 1`.execute(tx);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { kind, id, display_name: displayName, until, visible: seen } = row;
  const holder = { id, displayName, visible: seen };
  return kind === "reserved" ? { kind, ...holder, until } : { kind, ...holder };
}

const LONGEST_HASH = 64;

/** Sets the name of a record and returns its new FQDN. */
export async function setName(
  tx: Tx,
  asker: Asker,
  { record, name, sourceHash }: { readonly record: FoundRecord; readonly name: NameParts; readonly sourceHash: string },
): Promise<string> {
  const { scope } = asker;
  const fqdn = await freeFqdn(tx, { scope, id: record.id, name, sourceHash });
  await tx
    .updateTable("capability_records")
    .set({
      display_name: name.displayName,
      namespace: name.namespace,
      action: name.action,
      hash: fqdn.slice(fqdn.lastIndexOf(".") + 1),
      fqdn,
      updated_by: authorId(asker),
      updated_at: sql`now()`,
    })
    .where("org", "=", scope.org)
    .where("id", "=", record.id)
    .execute();
  // An alias that becomes the name again is no longer an alias.
  await tx
    .deleteFrom("capability_aliases")
    .where("org", "=", scope.org)
    .where("project", "=", scope.project)
    .where("alias", "in", [name.displayName, fqdn])
    .execute();
  return fqdn;
}

interface WantedFqdn {
  readonly scope: Scope;
  readonly id: string;
  readonly name: NameParts;
  readonly sourceHash: string;
}

/** Finds an FQDN with the shortest hash prefix that no record and no alias has. */
async function freeFqdn(tx: Tx, { scope, id, name, sourceHash }: WantedFqdn): Promise<string> {
  for (let length = 4; length <= LONGEST_HASH; length *= 2) {
    const { namespace, action } = name;
    const fqdn = formatFqdn({ ...scope, namespace, action, hash: sourceHash.slice(0, length) });
    const { rows } = await sql`
      SELECT 1 FROM capability_records WHERE org = ${scope.org} AND fqdn = ${fqdn} AND id <> ${id}
      UNION ALL SELECT 1 FROM capability_aliases
        WHERE org = ${scope.org} AND project = ${scope.project} AND alias = ${fqdn} AND record_id <> ${id}`.execute(tx);
    if (rows.length === 0) return fqdn;
  }
  throw new Error(`no FQDN is free for ${name.displayName}`);
}

export async function setOrigin(
  tx: Tx,
  { org }: Scope,
  { id, forkedFrom }: { readonly id: string; readonly forkedFrom: string },
): Promise<void> {
  await sql`UPDATE capability_records SET forked_from_fqdn = ${forkedFrom} WHERE org = ${org} AND id = ${id}`.execute(
    tx,
  );
}

/** Hash of the first version, which FQDNs are built from; later versions do not change it. */
export async function readFirstHash(tx: Tx, { org }: Scope, id: string): Promise<string> {
  const row = await tx
    .selectFrom("capability_versions")
    .select("source_hash")
    .where("org", "=", org)
    .where("record_id", "=", id)
    .orderBy("version")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) throw new Error(`${id} has no version`);
  return row.source_hash;
}

/** Returns whether the record had the alias. */
export async function deleteAlias(
  tx: Tx,
  { org, project }: Scope,
  { recordId, alias }: { readonly recordId: string; readonly alias: string },
): Promise<boolean> {
  const deleted = await tx
    .deleteFrom("capability_aliases")
    .where("org", "=", org)
    .where("project", "=", project)
    .where("alias", "=", alias)
    .where("record_id", "=", recordId)
    .returning("alias")
    .executeTakeFirst();
  return deleted !== undefined;
}

export async function insertAliases(
  tx: Tx,
  asker: Asker,
  { recordId, name, fqdn }: { readonly recordId: string; readonly name: string; readonly fqdn?: string },
): Promise<void> {
  const base = { ...asker.scope, record_id: recordId, created_by: authorId(asker) };
  await tx
    .insertInto("capability_aliases")
    .values([
      { ...base, alias: name, kind: "name" as const },
      ...(fqdn === undefined ? [] : [{ ...base, alias: fqdn, kind: "fqdn" as const }]),
    ])
    // Replaces an alias of a deleted record.
    .onConflict((conflict) => conflict.columns(["org", "project", "alias"]).doUpdateSet({ record_id: recordId }))
    .execute();
}

export interface RenameEntry {
  readonly recordId: string;
  readonly oldName: string;
  readonly newName: string;
  readonly oldFqdn: string;
  readonly newFqdn: string;
  readonly via: ChangedVia;
}

export async function insertRename(tx: Tx, asker: Asker, entry: RenameEntry): Promise<void> {
  await tx
    .insertInto("capability_rename_history")
    .values({
      org: asker.scope.org,
      id: newId(),
      record_id: entry.recordId,
      old_name: entry.oldName,
      new_name: entry.newName,
      old_fqdn: entry.oldFqdn,
      new_fqdn: entry.newFqdn,
      renamed_by: authorId(asker),
      renamed_via: entry.via,
    })
    .execute();
}

/** Writes the audit entry in the transaction of the change, so that neither exists without the other. */
export async function writeAudit(
  tx: Tx,
  asker: Asker,
  { action, subject, details = {} }: { action: string; subject: string; details?: Readonly<Record<string, unknown>> },
): Promise<void> {
  await tx
    .insertInto("audit_log")
    .values({
      ...asker.scope,
      id: newId(),
      principal_id: authorId(asker),
      action: `capability.${action}`,
      subject,
      outcome: "success",
      details: JSON.stringify(details),
    })
    .execute();
}
