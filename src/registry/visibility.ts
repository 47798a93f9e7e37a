import { type RawBuilder, sql } from "kysely";
import { PmlError } from "../base/errors.ts";
import type { Visibility } from "./record-words.ts";
import { type Asker, OWNER } from "./scope.ts";

/** SQL condition for the records `r` that the caller may see. */
export function visibleTo({ scope, principal }: Asker): RawBuilder<boolean> {
  const own = principal === OWNER ? sql`true` : sql`(r.visibility <> 'private' OR r.created_by = ${principal})`;
  return sql<boolean>`(r.visibility = 'public' OR r.org = ${scope.org}
    AND (r.visibility = 'org' OR r.project = ${scope.project} AND ${own}))`;
}

/** Throws where an agent would show a record beyond its project: that takes a person, or a principal who is an admin. */
export function refusePublishing({ admin }: Asker, name: string, visibility: Visibility | undefined): void {
  if (admin === true || (visibility !== "org" && visibility !== "public")) return;
  throw new PmlError("person_needed", `Only a person makes ${name} visible to the ${READERS[visibility]}`, {
    hint: `Leave visibility out, or take "project". A person shares it: pml share ${name} ${visibility}`,
    details: { name, visibility },
  });
}

const READERS = { org: "organisation", public: "public" } as const;

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
