import { sql } from "kysely";
import type { Scope } from "../capabilities/scope.ts";
import type { Db } from "../db/client.ts";

type ContentType = "text/plain" | "application/json";

export interface ResultKey {
  readonly workflow: string;
  readonly task: string;
}

export interface OwnedKey extends ResultKey {
  /** Who alone may read it; undefined is the owner of the gateway. */
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
  /** The bytes that were asked for; null when they are not kept any more. */
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

/** A stretch of a result, or without one all of it. */
export async function findResult(
  db: Db,
  { org, project }: Scope,
  { workflow, task, principal }: OwnedKey,
  stretch?: { readonly offset: number; readonly limit: number },
): Promise<ResultRow | undefined> {
  const bytes =
    stretch === undefined
      ? sql<Buffer | null>`result`
      : sql<Buffer | null>`substring(result from ${stretch.offset + 1}::int for ${stretch.limit}::int)`;
  const row = await db
    .selectFrom("task_results")
    .select(["tool_id", "content_type", "result_bytes", "expires_at", bytes.as("bytes")])
    .where("org", "=", org)
    .where("project", "=", project)
    .where("run_id", "=", workflow)
    .where("task_id", "=", task)
    .where("principal_id", "is not distinct from", principal ?? null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    tool: row.tool_id,
    contentType: row.content_type,
    totalBytes: row.result_bytes,
    expiresAt: row.expires_at,
    bytes: row.bytes,
  };
}
