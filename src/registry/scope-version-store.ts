import { sql } from "kysely";
import type { Db, Tx } from "../db/client.ts";
import type { Scope } from "./scope.ts";

export const SCOPE_CHANNEL = "pml_scope";

/**
 * Says, in the transaction that changes a definition, that the scope changed. Never for counters or
 * traces: a notification makes commits wait for each other.
 */
export async function bumpScope(tx: Tx, { org, project }: Scope): Promise<void> {
  await tx
    .insertInto("scope_version")
    .values({ org, project })
    .onConflict((conflict) =>
      conflict
        .columns(["org", "project"])
        .doUpdateSet({ version: sql`scope_version.version + 1`, changed_at: sql`now()` }),
    )
    .execute();
  await sql`SELECT pg_notify(${SCOPE_CHANNEL}, ${JSON.stringify({ org, project })})`.execute(tx);
}

export interface ScopeVersion extends Scope {
  readonly version: number;
}

export function readScopeVersions(db: Db): Promise<ScopeVersion[]> {
  return db.selectFrom("scope_version").select(["org", "project", "version"]).execute();
}
