import { v7 as newId } from "uuid";
import type { Scope } from "../capabilities/scope.ts";
import type { Db } from "../db/client.ts";

/** One call of a tool, whatever became of it. */
export interface ToolUse {
  readonly server: string;
  readonly tool: string;
  readonly client: string | undefined;
  /** The run it was made in. */
  readonly runId?: string;
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
    await tx
      .insertInto("tool_usage")
      .values(
        rows.map(({ id, use }) => ({
          ...scope,
          id,
          server_id: use.server,
          tool_name: use.tool,
          client: use.client ?? null,
          run_id: use.runId ?? null,
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
          action: "tool.call",
          subject: `${use.server}:${use.tool}`,
          outcome: use.outcome,
          details: JSON.stringify({ client: use.client ?? null, ...(use.errorCode ? { error: use.errorCode } : {}) }),
        })),
      )
      .execute();
  });
}

/** A client may ask for a tool by any text; what an index can hold of it identifies it well enough. */
const LONGEST_NAME = 500;

/** One call under an impossible name must not keep all calls from being recorded. */
function toStorable(use: ToolUse): ToolUse {
  return {
    ...use,
    tool: storableText(use.tool),
    client: use.client === undefined ? undefined : storableText(use.client),
  };
}

function storableText(text: string): string {
  return text.slice(0, LONGEST_NAME).replaceAll("\u0000", "\uFFFD").toWellFormed();
}
