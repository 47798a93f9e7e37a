import { sql } from "kysely";
import type { Capability } from "../registry/capability.ts";
import type { Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import type { JsonValue } from "../base/json.ts";
import { toJson } from "./run-store.ts";

export async function findMemo(
  db: Db,
  { org }: Scope,
  { capability, argsHash }: { readonly capability: Capability; readonly argsHash: string },
): Promise<{ readonly value: JsonValue } | undefined> {
  const row = await db
    .selectFrom("capability_memo")
    .select("result")
    .where("org", "=", org)
    .where("record_id", "=", capability.id)
    .where("version", "=", capability.version)
    .where("args_hash", "=", argsHash)
    .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", sql<Date>`now()`)]))
    .executeTakeFirst();
  return row && { value: row.result as JsonValue };
}

export async function keepMemo(
  db: Db,
  { org }: Scope,
  memo: { readonly capability: Capability; readonly argsHash: string; readonly value: JsonValue },
): Promise<void> {
  const { capability, argsHash, value } = memo;
  const { ttlSeconds } = capability;
  const values = {
    result: toJson(value),
    expires_at: ttlSeconds === undefined ? null : new Date(Date.now() + ttlSeconds * 1000),
  };
  await db
    .insertInto("capability_memo")
    .values({ org, record_id: capability.id, version: capability.version, args_hash: argsHash, ...values })
    .onConflict((conflict) => conflict.columns(["org", "record_id", "version", "args_hash"]).doUpdateSet(values))
    .execute();
}

export async function dropExpiredMemos(db: Db): Promise<void> {
  await db
    .deleteFrom("capability_memo")
    .where("expires_at", "<", sql<Date>`now()`)
    .execute();
}
