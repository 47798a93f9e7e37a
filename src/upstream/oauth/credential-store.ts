import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Scope } from "../../registry/scope.ts";
import { bumpScope } from "../../registry/scope-version-store.ts";
import type { Db } from "../../db/client.ts";

/** Key of a login; another address or issuer must never receive it. */
export interface CredentialKey {
  readonly scope: Scope;
  readonly server: string;
  readonly url: string;
}

export interface SealedCredential {
  readonly issuer: string;
  readonly sealed: string;
}

/** Returns the latest login of any issuer. */
export async function findCredential(db: Db, key: CredentialKey): Promise<SealedCredential | undefined> {
  return db
    .selectFrom("upstream_credential")
    .select(["issuer", "sealed"])
    .where("org", "=", key.scope.org)
    .where("project", "=", key.scope.project)
    .where("server_id", "=", key.server)
    .where("server_url", "=", key.url)
    .orderBy("saved_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

export async function writeCredential(db: Db, key: CredentialKey, { issuer, sealed }: SealedCredential): Promise<void> {
  await db
    .insertInto("upstream_credential")
    .values({ ...key.scope, server_id: key.server, server_url: key.url, issuer, sealed })
    .onConflict((conflict) =>
      conflict
        .columns(["org", "project", "server_id", "server_url", "issuer"])
        .doUpdateSet({ sealed, saved_at: sql`now()`, renewing_until: null }),
    )
    .execute();
}

/** Claims the renewal of a login; false if another gateway renews it or has renewed it since it was read. */
export async function claimRenewal(
  db: Db,
  key: CredentialKey,
  { issuer, sealed }: SealedCredential,
  seconds: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("upstream_credential")
    .set({ renewing_until: sql<Date>`now() + make_interval(secs => ${seconds})` })
    .where("org", "=", key.scope.org)
    .where("project", "=", key.scope.project)
    .where("server_id", "=", key.server)
    .where("server_url", "=", key.url)
    .where("issuer", "=", issuer)
    .where("sealed", "=", sealed)
    .where((at) => at.or([at("renewing_until", "is", null), at("renewing_until", "<", sql<Date>`now()`)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function endRenewal(db: Db, key: CredentialKey, issuer: string): Promise<void> {
  await db
    .updateTable("upstream_credential")
    .set({ renewing_until: null })
    .where("org", "=", key.scope.org)
    .where("project", "=", key.scope.project)
    .where("server_id", "=", key.server)
    .where("server_url", "=", key.url)
    .where("issuer", "=", issuer)
    .execute();
}

/** Deletes all logins to a server, at every address. Returns their number. */
export async function deleteCredentials(db: Db, key: Pick<CredentialKey, "scope" | "server">): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom("upstream_credential")
    .where("org", "=", key.scope.org)
    .where("project", "=", key.scope.project)
    .where("server_id", "=", key.server)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export interface LoginEvent {
  readonly action: "server.login" | "server.logout";
  readonly server: string;
}

/** Audits that a login was added or removed, and notifies every gateway of the database. */
export async function recordLogin(db: Db, scope: Scope, { action, server }: LoginEvent): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto("audit_log")
      .values({ ...scope, id: newId(), action, subject: server, outcome: "success", details: "{}" })
      .execute();
    await bumpScope(tx, scope);
  });
}
