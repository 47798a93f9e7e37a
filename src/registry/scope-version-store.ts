import { sql } from "kysely";
import type { Db, Tx } from "../db/client.ts";
import type { Scope } from "./scope.ts";

export const SCOPE_CHANNEL = "pml_scope";

/**
 * Notifies gateways that a definition of the scope changed, in the transaction of the change. Not for counters or
 * traces: NOTIFY serialises commits.
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
