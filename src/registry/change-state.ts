import { sql } from "kysely";
import type { Tx } from "../db/client.ts";
import { nameTaken } from "./apply-naming.ts";
import { authorId } from "./author-store.ts";
import { notFound, refuseForeign } from "./find-record.ts";
import { type NamePolicy, parseReference } from "./names.ts";
import { findNameHolder, writeAudit } from "./naming-store.ts";
import type { RecordSettings } from "./registry.ts";
import { findDeleted, findRecord, type FoundRecord } from "./resolve-store.ts";
import type { Asker } from "./scope.ts";
import { fitTags } from "./record-texts.ts";
import { refusePublishing } from "./visibility.ts";

export async function archiveRecord(tx: Tx, asker: Asker, { id, displayName, state }: FoundRecord): Promise<void> {
  if (state === "archived") return;
  await sql`
    UPDATE capability_records SET state = 'archived', state_before = state, archived_at = now(), updated_at = now(),
      updated_by = ${authorId(asker)}::uuid WHERE org = ${asker.scope.org} AND id = ${id}`.execute(tx);
  await writeAudit(tx, asker, { action: "archive", subject: displayName });
}

export async function removeRecord(tx: Tx, asker: Asker, { id, displayName }: FoundRecord): Promise<void> {
  await sql`
    UPDATE capability_records SET state_before = CASE state WHEN 'archived' THEN state_before ELSE state END,
      state = 'deleted', deleted_at = now(), updated_at = now(), updated_by = ${authorId(asker)}::uuid
    WHERE org = ${asker.scope.org} AND id = ${id}`.execute(tx);
  await writeAudit(tx, asker, { action: "delete", subject: displayName });
}

/** Restores an archived or deleted record and returns its id. */
export async function restoreRecord(
  tx: Tx,
  asker: Asker,
  { reference: text, policy }: { readonly reference: string; readonly policy: NamePolicy },
): Promise<string> {
  const reference = parseReference(text);
  const live = await findRecord(tx, asker, reference);
  const record = live?.state === "archived" ? live : await findDeleted(tx, asker, reference);
  if (record === undefined && live !== undefined) return live.id;
  if (record === undefined) throw notFound(text, undefined);
  refuseForeign(asker, record);
  const holder = await findNameHolder(tx, asker, { name: record.displayName, ...policy });
  if (holder !== undefined && holder.kind !== "reserved" && holder.id !== record.id)
    throw nameTaken(record.displayName, holder, asker.scope);
  await sql`
    UPDATE capability_records SET state = coalesce(state_before, 'active'), state_before = NULL, archived_at = NULL,
      deleted_at = NULL, updated_at = now(), updated_by = ${authorId(asker)}::uuid
    WHERE org = ${asker.scope.org} AND id = ${record.id}`.execute(tx);
  await writeAudit(tx, asker, { action: "restore", subject: record.displayName });
  return record.id;
}

export async function tagRecord(
  tx: Tx,
  asker: Asker,
  { record, settings }: { readonly record: FoundRecord; readonly settings: RecordSettings },
): Promise<void> {
  const { tags, cachePolicy, ttlSeconds, visibility } = settings;
  refusePublishing(asker, record.displayName, visibility);
  await tx
    .updateTable("capability_records")
    .set({
      ...(tags === undefined ? {} : { tags: fitTags([...new Set(tags)]) }),
      ...(cachePolicy === undefined ? {} : { cache_policy: cachePolicy }),
      ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }),
      ...(visibility === undefined ? {} : { visibility }),
      updated_by: authorId(asker),
      updated_at: sql`now()`,
    })
    .where("org", "=", asker.scope.org)
    .where("id", "=", record.id)
    .execute();
  await writeAudit(tx, asker, { action: "tag", subject: record.displayName, details: { ...settings } });
}
