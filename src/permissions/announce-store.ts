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

/** Writes the audit entry in the transaction of the change, so that neither exists without the other. */
export async function writeAudit(tx: Tx, scope: Scope, entry: AuditEntry): Promise<void> {
  const details = storableJson(entry.details);
  await tx
    .insertInto("audit_log")
    .values({ ...scope, ...entry, id: newId(), details })
    .execute();
}

/** An event sent between gateways; `from` lets the sender skip its own, which it has already published. */
export interface ApprovalMessage {
  readonly from: string;
  readonly event: PmlEvent;
}

export async function notifyApproval(tx: Tx, message: ApprovalMessage): Promise<void> {
  await sql`SELECT pg_notify(${APPROVAL_CHANNEL}, ${JSON.stringify(message)})`.execute(tx);
}
