import { type RawBuilder, sql } from "kysely";
import { type Asker, OWNER } from "./scope.ts";

/** SQL condition for the records `r` that the caller may see. */
export function visibleTo({ scope, principal }: Asker): RawBuilder<boolean> {
  const own = principal === OWNER ? sql`true` : sql`(r.visibility <> 'private' OR r.created_by = ${principal})`;
  return sql<boolean>`(r.visibility = 'public' OR r.org = ${scope.org}
    AND (r.visibility = 'org' OR r.project = ${scope.project} AND ${own}))`;
}
