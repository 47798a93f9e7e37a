import { type RawBuilder, sql } from "kysely";
import type { Db, Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { HEALTH, selectRecords, toRecord } from "./record-store.ts";
import type { RecordFilter, RecordPage, RecordQuery } from "./registry.ts";
import type { Asker } from "./scope.ts";
import { visibleTo } from "./visibility.ts";

type Sort = NonNullable<RecordQuery["sortBy"]>;
type Sql = RawBuilder<unknown>;

interface Order {
  readonly key: Sql;
  /** Tie-breaker. */
  readonly id: Sql;
  readonly type: Sql;
  readonly ascending: boolean;
  readonly from: Sql;
}

const RECORDS = sql`capability_records r`;
const WITH_FIGURES = sql`capability_records r JOIN capability_stat s ON s.org = r.org AND s.record_id = r.id`;

/** Sort orders with the SQL type of their cursor key; each has an index. */
const ORDERS: Readonly<Record<Sort, Order>> = {
  name: { key: sql`r.display_name`, id: sql`r.id`, type: sql`text`, ascending: true, from: RECORDS },
  usage: { key: sql`s.usage_count`, id: sql`s.record_id`, type: sql`bigint`, ascending: false, from: WITH_FIGURES },
  created: { key: sql`r.created_at`, id: sql`r.id`, type: sql`timestamptz`, ascending: false, from: RECORDS },
};

/** A page within the caller's project, or over everything they may see. */
export interface RecordPageRequest extends RecordQuery {
  readonly ownOnly: boolean;
}

export interface RecordCountRequest extends RecordFilter {
  readonly ownOnly: boolean;
}

/** Reads one page of matching records, without their total. */
export async function queryRecords(
  db: Db,
  asker: Asker,
  { ownOnly, ...query }: RecordPageRequest,
): Promise<Omit<RecordPage, "total">> {
  const { sortBy = "name", limit, offset = 0, cursor } = query;
  const { key, id, type, ascending, from } = ORDERS[sortBy];
  const fits = join([...conditions(query), visibleTo(asker)]);
  const after = cursor === undefined ? undefined : readCursor(cursor, sortBy);
  const compare = ascending ? sql`>` : sql`<`;
  const beyond =
    after === undefined ? sql`` : sql`AND (${key}, ${id}) ${compare} (${after.key}::${type}, ${after.id}::uuid)`;
  const direction = ascending ? sql`ASC` : sql`DESC`;
  const best = places(asker, ownOnly).map(
    (place) => sql`(SELECT r.org, r.id, ${key} AS sort_key FROM ${from} WHERE ${place} AND ${fits} ${beyond}
      ORDER BY ${key} ${direction}, ${id} ${direction} LIMIT ${limit + offset + 1})`,
  );
  // Selects the page before joining the details; otherwise every sorted record would be read in full.
  const { rows } = await sql<Parameters<typeof toRecord>[0] & { sort_key: string }>`
    WITH page AS MATERIALIZED (
      SELECT * FROM (${sql.join(best, sql` UNION ALL `)}) AS best
      ORDER BY sort_key ${direction}, id ${direction} LIMIT ${limit + 1} OFFSET ${offset})
    SELECT details.*, page.sort_key::text AS sort_key FROM page
    JOIN LATERAL (${selectRecords(asker)} WHERE r.org = page.org AND r.id = page.id) AS details ON true
    ORDER BY page.sort_key ${direction}, page.id ${direction}`.execute(db);
  const kept = rows.slice(0, limit);
  const last = rows.length > limit ? kept.at(-1) : undefined;
  return {
    records: kept.map(toRecord),
    nextCursor: last === undefined ? undefined : writeCursor(sortBy, last),
  };
}

export async function countRecords(db: Db, asker: Asker, { ownOnly, ...filter }: RecordCountRequest): Promise<number> {
  const own = ownOnly ? [ownProject(asker)] : [];
  const { rows } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM capability_records r
    WHERE ${join([...own, ...conditions(filter), visibleTo(asker)])}`.execute(db);
  return rows[0]?.total ?? 0;
}

/** Disjoint sets of records: each has an index in list order, their union has none. */
function places(asker: Asker, ownOnly: boolean): Sql[] {
  if (ownOnly) return [ownProject(asker)];
  const { org, project } = asker.scope;
  return [
    ownProject(asker),
    sql`r.org = ${org} AND r.project <> ${project} AND r.visibility IN ('org', 'public')`,
    sql`r.org <> ${org} AND r.visibility = 'public'`,
  ];
}

function ownProject({ scope }: Asker): Sql {
  return sql`r.org = ${scope.org} AND r.project = ${scope.project}`;
}

function conditions(filter: RecordFilter): Sql[] {
  const { text, namedOnly, states = ["active"] } = filter;
  return [
    sql`r.deleted_at IS NULL AND r.state = ANY(${[...states]})`,
    ...(namedOnly === true ? [sql`r.display_name NOT LIKE 'unnamed\\_%'`] : []),
    ...wordsOf(text).map(
      (word) => sql`(r.display_name || ' ' || coalesce(r.description, '')) ILIKE ${`%${escape(word)}%`}`,
    ),
    ...comparisons(filter),
  ];
}

type Compared = Omit<RecordFilter, "text" | "namedOnly" | "states">;

/** One comparison per filter. */
const COMPARISONS: { readonly [K in keyof Required<Compared>]: (value: Required<Compared>[K]) => Sql } = {
  namespace: (value) => sql`r.namespace = ${value}`,
  pattern: (value) => sql`r.display_name LIKE ${toLike(value)}`,
  createdBy: (value) => madeBy(value),
  tags: (value) => sql`r.tags @> ${[...value]}::text[]`,
  visibility: (value) => sql`r.visibility = ${value}`,
  versionTag: (value) => sql`r.version_tag LIKE ${toLike(value)}`,
  routing: (value) => sql`r.routing = ${value}`,
  health: (value) => sql`${HEALTH} = ${value}`,
  recordType: (value) => sql`r.record_type = ${value}`,
};

function comparisons(filter: Compared): Sql[] {
  return Object.entries(COMPARISONS).flatMap(([key, compare]) => {
    const value = filter[key as keyof Compared];
    return value === undefined ? [] : [(compare as (value: unknown) => Sql)(value)];
  });
}

/** Matches the whole `subject (issuer)` or the subject alone, as people type it. */
function madeBy(pattern: string): Sql {
  const like = toLike(pattern);
  return sql`CASE WHEN r.created_by IS NULL THEN 'local' LIKE ${like} ELSE EXISTS (
    SELECT 1 FROM principals p WHERE p.org = r.org AND p.id = r.created_by
      AND (p.name LIKE ${like} OR split_part(p.name, ' (', 1) LIKE ${like})) END`;
}

/** Encodes the page end with the database's own text of the sort key. */
function writeCursor(sortBy: Sort, { sort_key: key, id }: { readonly sort_key: string; readonly id: string }): string {
  return Buffer.from(JSON.stringify([sortBy, key, id])).toString("base64url");
}

function readCursor(cursor: string, sortBy: Sort): { readonly key: string; readonly id: string } {
  try {
    const [sort, key, id] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as unknown[];
    if (sort === sortBy && typeof key === "string" && typeof id === "string" && UUID.test(id)) return { key, id };
  } catch {
    // falls through to the error below
  }
  throw new PmlError("arguments_invalid", "The cursor does not belong to this list", {
    hint: "Take next_cursor of the page before, with the same sort_by.",
  });
}

const UUID = /^[0-9a-f-]{36}$/;

function join(all: readonly Sql[]): Sql {
  return sql.join(all, sql` AND `);
}

function wordsOf(text: string | undefined): string[] {
  return text?.split(/\s+/).filter(Boolean) ?? [];
}

function escape(text: string): string {
  return text.replace(/[\\%_]/g, String.raw`\$&`);
}

/** Turns a glob with `*` and `?` into a LIKE pattern. */
function toLike(glob: string): string {
  return escape(glob).replaceAll("*", "%").replaceAll("?", "_");
}

/** Number of records that the caller made and did not delete. */
export async function countAuthored(db: Db | Tx, { scope, principal }: Asker): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM capability_records
    WHERE org = ${scope.org} AND created_by = ${principal} AND deleted_at IS NULL`.execute(db);
  return rows[0]?.total ?? 0;
}

/** Number of capabilities in the scope, by state. */
export interface RecordCounts {
  readonly named: number;
  readonly unnamed: number;
  readonly drafts: number;
  readonly archived: number;
}

export async function countCapabilities(db: Db, asker: Asker): Promise<RecordCounts> {
  const { org, project } = asker.scope;
  const { rows } = await sql<RecordCounts>`
    SELECT count(*) FILTER (WHERE r.state = 'active' AND r.display_name NOT LIKE 'unnamed\\_%') AS named,
      count(*) FILTER (WHERE r.state = 'active' AND r.display_name LIKE 'unnamed\\_%') AS unnamed,
      count(*) FILTER (WHERE r.state = 'draft') AS drafts, count(*) FILTER (WHERE r.state = 'archived') AS archived
    FROM capability_records r WHERE r.org = ${org} AND r.project = ${project} AND r.record_type = 'capability'
      AND r.deleted_at IS NULL AND ${visibleTo(asker)}`.execute(db);
  return rows[0] ?? { named: 0, unnamed: 0, drafts: 0, archived: 0 };
}
