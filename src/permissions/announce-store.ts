import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Scope } from "../registry/scope.ts";
import type { Tx } from "../db/client.ts";
import type { PmlEvent } from "../base/events.ts";
import { storableJson } from "../base/storable.ts";

export const APPROVAL_CHANNEL = "pml_approval";

export interface AuditEntry {
  readonly action: "approval.request" | "approval.decide" | "approval.use" | "rule.create" | "rule.remove";
  readonly subject: string;
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** In the transaction of what it tells of, so that neither exists without the other. */
export async function writeAudit(tx: Tx, scope: Scope, entry: AuditEntry): Promise<void> {
  const details = storableJson(entry.details);
  await tx
    .insertInto("audit_log")
    .values({ ...scope, ...entry, id: newId(), details })
    .execute();
}

/** As it travels between gateways; the one that wrote it has told its own listeners already. */
export interface ApprovalNotice {
  readonly from: string;
  readonly event: PmlEvent;
}

export async function notifyApproval(tx: Tx, notice: ApprovalNotice): Promise<void> {
  await sql`SELECT pg_notify(${APPROVAL_CHANNEL}, ${JSON.stringify(notice)})`.execute(tx);
}
