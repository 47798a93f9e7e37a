import { sql } from "kysely";
import { type Asker, OWNER } from "../../registry/scope.ts";
import type { Db } from "../../db/client.ts";

/** Figures of a tool's use, of all principals or of the asking one. */
export interface ToolFigures {
  readonly server: string;
  readonly tool: string;
  readonly calls: number;
  readonly successes: number;
  readonly averageMs: number;
  readonly lastAt: Date;
}

const MOST_TOOLS = 50;

/** Most used first. The owner sees all calls, a principal its own. */
export async function readToolFigures(db: Db, { scope, principal }: Asker, since: Date): Promise<ToolFigures[]> {
  const whose = principal === OWNER ? sql`true` : sql`principal_id = ${principal}`;
  const { rows } = await sql<{
    server_id: string;
    tool_name: string;
    calls: number;
    successes: number;
    average_ms: number;
    last_at: Date;
  }>`
    SELECT server_id, tool_name, count(*) AS calls, count(*) FILTER (WHERE outcome = 'success') AS successes,
      avg(duration_ms) AS average_ms, max(called_at) AS last_at
    FROM tool_usage WHERE org = ${scope.org} AND id >= ${firstIdAt(since)} AND project = ${scope.project}
      AND called_at >= ${since} AND ${whose}
    GROUP BY server_id, tool_name ORDER BY calls DESC, server_id, tool_name LIMIT ${MOST_TOOLS}`.execute(db);
  return rows.map((row) => ({
    server: row.server_id,
    tool: row.tool_name,
    calls: row.calls,
    successes: row.successes,
    averageMs: row.average_ms,
    lastAt: row.last_at,
  }));
}

/** The least id of a call recorded from that time on; ids are assigned when calls end. */
function firstIdAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
