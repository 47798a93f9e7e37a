import { CAPABILITY_PREFIX } from "../catalogue/tool-id.ts";
import { sql } from "kysely";
import type { Db } from "../db/client.ts";
import type { JsonSchema } from "../base/json.ts";
import { stripInvisible } from "../base/visible.ts";
import type { ListedCapability, ListingChoice } from "./listed-capability.ts";
import type { Asker } from "./scope.ts";
import { foreignAuthor, visibleTo } from "./visibility.ts";
import { SHOWN_DESCRIPTION } from "./record-store.ts";
import { showDescription } from "./record-texts.ts";

interface ListedRow {
  display_name: string;
  description: string | null;
  author: string | null;
  parameters_schema: JsonSchema | null;
  output: JsonSchema | null;
  tools: string[] | null;
  dynamic: boolean;
  usage_count: number;
}

/** Lists named, active capabilities of the scope: pinned ones first, then by use. */
export async function listNamed(db: Db, asker: Asker, { limit, pinned }: ListingChoice): Promise<ListedCapability[]> {
  const { org, project } = asker.scope;
  const isPinned = sql`r.display_name = ANY(${[...pinned]}::text[])`;
  const named = sql`
    SELECT r.org, r.project, r.id, r.version, r.display_name, ${SHOWN_DESCRIPTION} AS description, s.usage_count, ${isPinned} AS pinned,
      ${foreignAuthor(asker)} AS author
    FROM capability_records r JOIN capability_stat s ON s.org = r.org AND s.record_id = r.id
    WHERE r.org = ${org} AND r.project = ${project} AND r.record_type = 'capability' AND r.state = 'active'
      AND r.deleted_at IS NULL AND r.display_name NOT LIKE 'unnamed\\_%' AND ${visibleTo(asker)}`;
  // This order has an index, so the top few cost no scan of all records.
  const most = limit === undefined ? sql`` : sql`ORDER BY s.usage_count DESC, s.record_id DESC LIMIT ${limit}`;
  const { rows } = await sql<ListedRow>`
    WITH RECURSIVE chosen AS ((${named} AND ${isPinned}) UNION ALL (${named} AND NOT ${isPinned} ${most})),
    reach (root, id, version) AS (
      SELECT id, id, version FROM chosen
      UNION SELECT reach.root, d.to_record_id, coalesce(d.to_version, t.version) FROM reach
        JOIN capability_dependency d ON d.org = ${org} AND d.from_record_id = reach.id AND d.from_version = reach.version
        JOIN capability_records t ON t.org = d.org AND t.id = d.to_record_id),
    reached AS (
      SELECT reach.root, array_agg(DISTINCT tool) FILTER (WHERE tool IS NOT NULL) AS tools,
        -- a version without an analysed structure may call anything
        bool_or(v.structure IS NULL OR jsonb_path_exists(v.structure, '$.nodes[*] ? (@.type == "dynamic")')) AS dynamic
      FROM reach JOIN capability_versions v ON v.org = ${org} AND v.record_id = reach.id AND v.version = reach.version
        LEFT JOIN LATERAL unnest(v.tools_used) AS tool ON true
      GROUP BY reach.root)
    SELECT c.display_name, c.description, c.author, v.parameters_schema, o.schema AS output, reached.tools, reached.dynamic, c.usage_count
    FROM chosen c
    JOIN capability_versions v ON v.org = c.org AND v.record_id = c.id AND v.version = c.version
    JOIN reached ON reached.root = c.id
    LEFT JOIN output_schema o ON o.org = c.org AND o.project = c.project AND o.subject = ${CAPABILITY_PREFIX} || c.id
    ORDER BY c.pinned DESC, c.usage_count DESC, c.display_name`.execute(db);
  return rows.map((row) => ({
    name: row.display_name,
    description: row.description === null ? undefined : showDescription(row.description),
    author: row.author === null ? undefined : stripInvisible(row.author),
    parameters: row.parameters_schema ?? {},
    output: row.output?.["type"] === "object" ? row.output : undefined,
    tools: row.tools ?? [],
    dynamic: row.dynamic,
    usageCount: row.usage_count,
  }));
}
