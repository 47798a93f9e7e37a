import { sql } from "kysely";
import type { Scope } from "../../registry/scope.ts";
import type { Db } from "../../db/client.ts";
import { findPacked, PACKED_TASK } from "./packed-results.ts";

type ContentType = "text/plain" | "application/json";

export interface ResultKey {
  readonly workflow: string;
  readonly task: string;
}

export interface OwnedKey extends ResultKey {
  /** The only principal who may read it; undefined is the owner of the gateway. */
  readonly principal: string | undefined;
}

export interface NewResult extends OwnedKey {
  /** `server:tool`. */
  readonly tool: string;
  readonly status: "success" | "error";
  readonly contentType: ContentType;
  readonly text: string;
  readonly expiresAt: Date;
}

export interface ResultRow {
  readonly tool: string | null;
  readonly contentType: ContentType;
  readonly totalBytes: number;
  readonly expiresAt: Date;
  /** The requested bytes; null once they have expired. */
  readonly bytes: Buffer | null;
}

const PREVIEW_CHARACTERS = 240;

export async function insertResult(db: Db, { org, project }: Scope, result: NewResult): Promise<void> {
  const bytes = Buffer.from(result.text);
  await db
    .insertInto("task_results")
    .values({
      org,
      project,
      run_id: result.workflow,
      task_id: result.task,
      principal_id: result.principal ?? null,
      tool_id: result.tool,
      status: result.status,
      preview: result.text.slice(0, PREVIEW_CHARACTERS).replaceAll("\u0000", "\uFFFD").toWellFormed(),
      content_type: result.contentType,
      result: bytes,
      result_bytes: bytes.length,
      expires_at: result.expiresAt,
    })
    .execute();
}

/** Drops the bytes of results of calls before their time. */
export async function expireResults(db: Db, { org, project }: Scope, keys: readonly ResultKey[]): Promise<void> {
  await db
    .updateTable("task_results")
    .set({ result: null, expires_at: sql`now()` })
    .where("org", "=", org)
    .where("project", "=", project)
    .where(
      "run_id",
      "in",
      keys.map(({ workflow }) => workflow),
    )
    .where("task_id", "=", keys[0]?.task ?? "")
    .execute();
}

export interface Stretch {
  readonly offset: number;
  readonly limit: number;
}

/** A range of a result; the whole result by default. */
export async function findResult(
  db: Db,
  { org, project }: Scope,
  { workflow, task, principal }: OwnedKey,
  stretch?: Stretch,
): Promise<ResultRow | undefined> {
  const bytes =
    stretch === undefined
      ? sql<Buffer | null>`result`
      : sql<Buffer | null>`CASE WHEN task_id = ${PACKED_TASK} THEN result
          ELSE substring(result from ${stretch.offset + 1}::int for ${stretch.limit}::int) END`;
  const rows = await db
    .selectFrom("task_results")
    .select(["task_id", "tool_id", "content_type", "result_bytes", "expires_at", bytes.as("bytes")])
    .where("org", "=", org)
    .where("project", "=", project)
    .where("run_id", "=", workflow)
    .where("task_id", "in", [task, PACKED_TASK])
    .where("principal_id", "is not distinct from", principal ?? null)
    .execute();
  const own = rows.find((row) => row.task_id === task);
  const packed = rows.find((row) => row.task_id === PACKED_TASK);
  if (own === undefined) return packed && unpack(packed, task, stretch);
  return {
    tool: own.tool_id,
    contentType: own.content_type,
    totalBytes: own.result_bytes,
    expiresAt: own.expires_at,
    bytes: own.bytes,
  };
}

/** Expired bytes no longer tell which tasks there were, so any task of the run counts as expired. */
function unpack(
  { bytes, expires_at: expiresAt }: { readonly bytes: Buffer | null; readonly expires_at: Date },
  task: string,
  stretch: Stretch | undefined,
): ResultRow | undefined {
  const gone = { tool: null, contentType: "application/json", totalBytes: 0, expiresAt, bytes: null } as const;
  if (bytes === null) return gone;
  const found = findPacked(bytes, task);
  if (found === undefined) return undefined;
  const whole = Buffer.from(found.text);
  const { offset, limit } = stretch ?? { offset: 0, limit: whole.length };
  const part = whole.subarray(offset, offset + limit);
  return { ...gone, tool: found.tool, totalBytes: whole.length, bytes: part };
}
