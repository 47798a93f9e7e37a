import { type RawBuilder, sql } from "kysely";
import { type Asker, OWNER } from "./scope.ts";

/** SQL condition for the records `r` that the caller may see. */
export function visibleTo({ scope, principal }: Asker): RawBuilder<boolean> {
  const own = principal === OWNER ? sql`true` : sql`(r.visibility <> 'private' OR r.created_by = ${principal})`;
  return sql<boolean>`(r.visibility = 'public' OR r.org = ${scope.org}
    AND (r.visibility = 'org' OR r.project = ${scope.project} AND ${own}))`;
}

const LONGEST_AUTHOR = 40;

/**
 * SQL expression for the author of the record `r` if that is not the reader, whose agents count as the owner: readers
 * are told whose words they read.
 */
export function foreignAuthor({ principal }: Pick<Asker, "principal">): RawBuilder<string | null> {
  if (principal === OWNER) return sql<string | null>`${authorName(sql`p.kind <> 'agent'`)}`;
  return sql<string | null>`CASE WHEN r.created_by IS DISTINCT FROM ${principal}::uuid
    THEN coalesce(${authorName(sql`true`)}, ${OWNER}) END`;
}

function authorName(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(SELECT left(split_part(p.name, ' (', 1), ${LONGEST_AUTHOR}::integer) FROM principals p
    WHERE p.org = r.org AND p.id = r.created_by AND ${condition})`;
}
