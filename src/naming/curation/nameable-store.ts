import { type RawBuilder, sql } from "kysely";
import { z } from "zod";
import { type Asker, OWNER } from "../../registry/scope.ts";
import { visibleTo } from "../../registry/visibility.ts";
import type { Db } from "../../db/client.ts";
import type { JsonSchema } from "../../base/json.ts";
import type { StaticStructure } from "../../analysis/structure.ts";
import { toStructure } from "../../registry/capability.ts";
import type { Nameable, ToolNote } from "../nameable.ts";
import { PmlError } from "../../base/errors.ts";
import { SHOWN_DESCRIPTION } from "../../registry/record-store.ts";

/** A capability as curation sees it. */
export interface NameableCapability extends Nameable {
  readonly unnamed: boolean;
  readonly namespace: string;
}

export interface NameableFilter {
  /** Only capabilities without a name. */
  readonly unnamedOnly: boolean;
  readonly minUsage: number;
  /** Only capabilities that never had a suggestion. */
  readonly newOnly?: boolean;
}

export interface NameablePage {
  readonly nameables: readonly NameableCapability[];
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
}

export interface PageRequest {
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Largest page: a person reviews no more at once, and the query stays short. */
const MAX_PAGE = 200;

/** Values are read for their words; the first ones suffice. */
const LONGEST_VALUE = 200;

/** A name made from a program's hash. */
const UNNAMED = sql`starts_with(r.display_name, 'unnamed_')`;

const WITHOUT_SUGGESTION = sql`NOT EXISTS (SELECT FROM capability_suggestion g WHERE g.org = r.org AND g.record_id = r.id)`;

interface NameableRow {
  id: string;
  display_name: string;
  namespace: string;
  unnamed: boolean;
  description: string | null;
  code_snippet: string | null;
  tools_used: string[];
  parameters_schema: JsonSchema | null;
  structure: Partial<StaticStructure> | null;
  intents: string[];
  /** Texts in the arguments of recent runs. */
  values: string[];
  usage_count: number;
}

/**
 * Lists a page of the capabilities the caller may see, most used first, with their recent intents but not those of
 * other principals. A capability that is used while somebody turns the pages may move to a page that was read.
 */
export async function listNameables(
  db: Db,
  asker: Asker,
  { limit = MAX_PAGE, cursor, ...filter }: NameableFilter & PageRequest,
): Promise<NameablePage> {
  const { org, project } = asker.scope;
  const after = cursor === undefined ? sql`true` : beyond(cursor);
  const all = asker.principal === OWNER;
  const { rows } = await sql<NameableRow>`
    SELECT r.id, r.display_name, r.namespace, ${UNNAMED} AS unnamed, ${SHOWN_DESCRIPTION} AS description, v.code_snippet, v.tools_used,
      v.parameters_schema, v.structure, s.usage_count,
      ARRAY(SELECT DISTINCT left(found.value #>> '{}', ${LONGEST_VALUE}) FROM (
        SELECT input FROM execution_run
        WHERE org = r.org AND record_id = r.id AND state = 'succeeded' AND parent_run_id IS NULL
          AND (${all} OR principal = ${asker.principal})
        ORDER BY created_at DESC LIMIT 20) x, jsonb_path_query(x.input, 'lax $.** ? (@.type() == "string")') AS found(value)
        LIMIT 200) AS values,
      ARRAY(SELECT e.intent FROM (
        SELECT x.intent, count(*) AS times FROM (
          SELECT intent FROM execution_run
          WHERE org = r.org AND record_id = r.id AND state = 'succeeded' AND intent IS NOT NULL AND parent_run_id IS NULL
            AND (${all} OR principal = ${asker.principal})
          ORDER BY created_at DESC LIMIT 20) x
        GROUP BY x.intent ORDER BY times DESC, x.intent LIMIT 5) e) AS intents
    FROM capability_records r
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = r.version
    JOIN capability_stat s ON s.org = r.org AND s.record_id = r.id
    WHERE r.org = ${org} AND r.project = ${project} AND r.record_type = 'capability' AND r.state = 'active'
      AND r.deleted_at IS NULL AND s.usage_count >= ${filter.minUsage} AND (${!filter.unnamedOnly} OR ${UNNAMED})
      AND ${visibleTo(asker)} AND ${after}
      AND (${filter.newOnly !== true} OR ${WITHOUT_SUGGESTION})
    ORDER BY s.usage_count DESC, r.id LIMIT ${limit + 1}`.execute(db);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const notes = await readNotes(db, asker, [...new Set(page.flatMap((row) => row.tools_used))]);
  return {
    nameables: page.map((row) => toNameable(row, notes)),
    nextCursor: last === undefined ? undefined : writeCursor(last),
  };
}

function writeCursor({ usage_count: uses, id }: NameableRow): string {
  return Buffer.from(JSON.stringify([uses, id])).toString("base64url");
}

const cursorParts = z.tuple([z.number(), z.uuid()]);

/** The condition for what comes after a page. */
function beyond(cursor: string): RawBuilder<unknown> {
  const [uses, id] = readCursor(cursor);
  return sql`(s.usage_count < ${uses} OR (s.usage_count = ${uses} AND r.id > ${id}::uuid))`;
}

function readCursor(cursor: string): z.output<typeof cursorParts> {
  try {
    return cursorParts.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch (cause) {
    throw new PmlError("arguments_invalid", "The cursor does not belong to a list of capabilities without a name", {
      hint: "Take next_cursor of the page before.",
      cause,
    });
  }
}

/** Longer descriptions and schemas say no more about a tool. */
const LONGEST_DESCRIPTION = 2_000;
const LARGEST_SCHEMA = 65_536;

async function readNotes(
  db: Db,
  { scope: { org, project } }: Asker,
  tools: readonly string[],
): Promise<ReadonlyMap<string, ToolNote>> {
  if (tools.length === 0) return new Map();
  const { rows } = await sql<NoteRow>`
    SELECT tool_id, left(description, ${LONGEST_DESCRIPTION}) AS description, annotations ->> 'readOnlyHint' AS read_only,
      CASE WHEN pg_column_size(input_schema) < ${LARGEST_SCHEMA} THEN input_schema END AS input_schema,
      CASE WHEN pg_column_size(output_schema) < ${LARGEST_SCHEMA} THEN output_schema END AS output_schema
    FROM tool_schema WHERE org = ${org} AND project = ${project} AND tool_id = ANY(${tools}::text[])`.execute(db);
  return new Map(rows.map((row) => [row.tool_id, toNote(row)]));
}

interface NoteRow {
  tool_id: string;
  description: string | null;
  input_schema: JsonSchema | null;
  output_schema: JsonSchema | null;
  read_only: string | null;
}

function toNote(row: NoteRow): ToolNote {
  return {
    id: row.tool_id,
    description: row.description ?? undefined,
    inputSchema: row.input_schema ?? undefined,
    outputSchema: row.output_schema ?? undefined,
    readOnly: row.read_only === "true",
  };
}

function toNameable(row: NameableRow, notes: ReadonlyMap<string, ToolNote>): NameableCapability {
  return {
    id: row.id,
    currentName: row.display_name,
    unnamed: row.unnamed,
    namespace: row.namespace,
    intents: [...row.intents, ...(row.description === null ? [] : [row.description])],
    code: row.code_snippet ?? "",
    tools: row.tools_used,
    parameters: Object.keys(row.parameters_schema?.["properties"] ?? {}),
    structure: toStructure(row.structure),
    definitions: row.tools_used.flatMap((tool) => notes.get(tool) ?? []),
    values: row.values,
  };
}

/** Counts unnamed capabilities without a suggestion. */
export async function countWithoutSuggestion(db: Db, { org, project }: Asker["scope"]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM capability_records r
    WHERE r.org = ${org} AND r.project = ${project} AND r.record_type = 'capability' AND r.state = 'active'
      AND r.deleted_at IS NULL AND ${UNNAMED}
      AND ${WITHOUT_SUGGESTION}`.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * Maps names that are in use, former, reserved or suggested to the id of the one capability that may still get them;
 * null if none may.
 */
export async function readTakenNames(db: Db, { org, project }: Asker["scope"]): Promise<Map<string, string | null>> {
  const { rows } = await sql<{ name: string; proposed_to: string | null }>`
    SELECT suggested_name AS name, record_id AS proposed_to FROM capability_suggestion
      WHERE org = ${org} AND project = ${project} AND fate = 'pending'
    UNION ALL SELECT display_name, NULL FROM capability_records WHERE org = ${org} AND project = ${project}
    UNION ALL SELECT alias, NULL FROM capability_aliases WHERE org = ${org} AND project = ${project}`.execute(db);
  return new Map(rows.map(({ name, proposed_to: id }) => [name, id]));
}
