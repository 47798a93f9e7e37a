import { v7 as newId } from "uuid";
import type { Principal } from "../auth/principal.ts";
import type { Scope } from "../capabilities/scope.ts";
import type { Db } from "../db/client.ts";

/** One call of a tool, whatever became of it. */
export interface ToolUse {
  readonly server: string;
  readonly tool: string;
  readonly client: string | undefined;
  /** undefined: the owner, with the local token or over stdio. */
  readonly principal?: Principal | undefined;
  readonly outcome: "success" | "error" | "refused" | "timeout" | "cancelled";
  readonly errorCode?: string;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly calledAt: Date;
}

/** Each use is a row of its own and, in the same transaction, an entry of the audit log. */
export async function insertToolUses(db: Db, scope: Scope, uses: readonly ToolUse[]): Promise<void> {
  const rows = uses.map((use) => ({ id: newId(), use: toStorable(use) }));
  await db.transaction().execute(async (tx) => {
    await insertPrincipals(
      tx,
      scope,
      rows.map(({ use }) => use),
    );
    await tx
      .insertInto("tool_usage")
      .values(
        rows.map(({ id, use }) => ({
          ...scope,
          id,
          server_id: use.server,
          tool_name: use.tool,
          principal_id: use.principal?.id ?? null,
          client: use.client ?? null,
          outcome: use.outcome,
          error_code: use.errorCode ?? null,
          duration_ms: use.durationMs,
          request_bytes: use.requestBytes,
          response_bytes: use.responseBytes,
          called_at: use.calledAt,
        })),
      )
      .execute();
    await tx
      .insertInto("audit_log")
      .values(
        rows.map(({ id, use }) => ({
          ...scope,
          id,
          at: use.calledAt,
          principal_id: use.principal?.id ?? null,
          action: "tool.call",
          subject: `${use.server}:${use.tool}`,
          outcome: use.outcome,
          details: JSON.stringify(auditDetails(use)),
        })),
      )
      .execute();
  });
}

/** Whoever calls for the first time becomes known by it. */
async function insertPrincipals(tx: Db, { org }: Scope, uses: readonly ToolUse[]): Promise<void> {
  const callers = new Map(uses.flatMap(({ principal }) => (principal ? [[principal.id, principal]] : [])));
  if (callers.size === 0) return;
  // in one order everywhere, or two gateways could wait for each other
  const ordered = [...callers.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const values = ordered.map(({ id, subject, issuer, clientId }) => ({
    org,
    id,
    // a token without a person in it stands for the program itself
    kind: subject === clientId ? ("service" as const) : ("person" as const),
    name: storableText(`${subject} (${issuer})`),
  }));
  await tx
    .insertInto("principals")
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function auditDetails({ client, errorCode, principal }: ToolUse): Record<string, unknown> {
  return {
    client: client ?? null,
    ...(errorCode ? { error: errorCode } : {}),
    ...(principal === undefined ? {} : { principal }),
  };
}

/** A client may ask for a tool by any text; what an index can hold of it identifies it well enough. */
const LONGEST_NAME = 500;

/** One call under an impossible name must not keep all calls from being recorded. */
function toStorable(use: ToolUse): ToolUse {
  return {
    ...use,
    tool: storableText(use.tool),
    client: use.client === undefined ? undefined : storableText(use.client),
    principal: use.principal === undefined ? undefined : storablePrincipal(use.principal),
  };
}

function storablePrincipal({ id, subject, issuer, clientId, scopes }: Principal): Principal {
  return {
    id,
    subject: storableText(subject),
    issuer: storableText(issuer),
    clientId: storableText(clientId),
    scopes: scopes.map(storableText),
  };
}

function storableText(text: string): string {
  return text.slice(0, LONGEST_NAME).replaceAll("\u0000", "\uFFFD").toWellFormed();
}
