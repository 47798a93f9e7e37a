import { v7 as newId } from "uuid";
import type { Principal } from "../../auth/principal.ts";
import type { Scope } from "../../registry/scope.ts";
import type { DatabaseClient, Db } from "../../db/client.ts";

/** One call of a tool and its outcome. */
export interface ToolUse {
  readonly server: string;
  readonly tool: string;
  readonly client: string | undefined;
  /** The run whose program made the call. */
  readonly runId?: string;
  /** undefined: the owner, with the local token or over stdio. */
  readonly principal?: Principal | undefined;
  /** Identifies the principal where nothing else is known of it; it has to be stored already. */
  readonly principalId?: string | undefined;
  readonly outcome: "success" | "error" | "refused" | "timeout" | "cancelled";
  readonly errorCode?: string;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly calledAt: Date;
}

/** Sends each column as one array: one parameter per field would cost the engine several times as much. */
const INSERT_USES = `
    WITH uses AS (SELECT * FROM unnest($3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::uuid[], $9::text[],
        $10::text[], $11::double precision[], $12::bigint[], $13::bigint[], $14::timestamptz[], $15::jsonb[])
      AS each (id, server, tool, principal, client, run, outcome, error, ms, request_bytes, response_bytes, at, details)),
    used AS (
      INSERT INTO tool_usage (org, project, id, server_id, tool_name, principal_id, client, run_id, outcome, error_code,
        duration_ms, request_bytes, response_bytes, called_at)
      SELECT $1::text, $2::text, id, server, tool, principal, client, run, outcome, error,
        ms, request_bytes, response_bytes, at FROM uses
    ),
    -- Calls of a run are counted with the run; what was refused or broken off says nothing about the tool.
    tallied AS (
      INSERT INTO discovery_tally AS s (org, project, subject, tag, uses, successes)
      SELECT $1::text, $2::text, server || ':' || tool AS subject, '', count(*), count(*) FILTER (WHERE outcome = 'success')
      FROM uses WHERE run IS NULL AND outcome IN ('success', 'error', 'timeout') GROUP BY subject ORDER BY subject
      ON CONFLICT (org, project, subject, tag) DO UPDATE SET uses = s.uses + excluded.uses,
        successes = s.successes + excluded.successes, changed_at = clock_timestamp()
    )
    INSERT INTO audit_log (org, project, id, at, principal_id, action, subject, outcome, details)
    SELECT $1::text, $2::text, id, at, principal, 'tool.call', server || ':' || tool, outcome,
      coalesce(details, jsonb_build_object('client', client)) FROM uses`;

/** Inserts a row of usage and an entry of the audit log for each call, in one statement. */
export async function insertToolUses(
  client: Pick<DatabaseClient, "db" | "executePrepared">,
  { org, project }: Scope,
  given: readonly ToolUse[],
): Promise<void> {
  const uses = given.map(toStorable);
  await insertPrincipals(
    client.db,
    org,
    uses.flatMap(({ principal }) => principal ?? []),
  );
  const column = (read: (use: ToolUse) => unknown): unknown => toColumn(uses.map(read));
  await client.executePrepared("insert-uses", INSERT_USES, [
    org,
    project,
    column(() => newId()),
    column(({ server }) => server),
    column(({ tool }) => tool),
    column(({ principal, principalId }) => principal?.id ?? principalId),
    column((use) => use.client),
    column(({ runId }) => runId),
    column(({ outcome }) => outcome),
    column(({ errorCode }) => errorCode),
    column(({ durationMs }) => durationMs),
    column(({ requestBytes }) => requestBytes),
    column(({ responseBytes }) => responseBytes),
    column(({ calledAt }) => calledAt.toISOString()),
    column(unusualDetails),
  ]);
}

/** Sends null instead of an array of nulls, which means the same to the engine and is shorter. */
function toColumn(values: readonly unknown[]): readonly unknown[] | null {
  return values.every((value) => value === undefined) ? null : values;
}

/** Stores principals that are not known yet. */
export async function insertPrincipals(db: Db, org: string, principals: readonly Principal[]): Promise<void> {
  const callers = new Map(principals.map((principal) => [principal.id, principal]));
  if (callers.size === 0) return;
  // one order everywhere, or two gateways could deadlock
  const ordered = [...callers.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const values = ordered.map(({ id, subject, issuer, clientId }) => ({
    org,
    id,
    // a token without a person in it stands for the program itself
    kind: subject === clientId ? ("service" as const) : ("person" as const),
    name: storableText(`${subject} (${issuer})`),
  }));
  await db
    .insertInto("principals")
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Details of the audit log beyond the client's name, which needs no JSON. */
function unusualDetails({ client, errorCode, principal }: ToolUse): string | undefined {
  if (!errorCode && principal === undefined) return undefined;
  return JSON.stringify({
    client: client ?? null,
    ...(errorCode ? { error: errorCode } : {}),
    ...(principal && { principal }),
  });
}

/** Cuts a tool's name to what an index can hold; clients may send any text. */
const LONGEST_NAME = 500;

/** Replaces unstorable characters, so that one impossible name does not fail the whole batch. */
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
  if (text.length <= LONGEST_NAME && text.isWellFormed() && !text.includes("\u0000")) return text;
  return text.slice(0, LONGEST_NAME).replaceAll("\u0000", "\uFFFD").toWellFormed();
}
