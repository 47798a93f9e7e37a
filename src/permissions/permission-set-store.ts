import { sql } from "kysely";
import type { Db } from "../db/client.ts";
import type { PermissionSet, PermittedTool } from "./effect.ts";
import type { ToolVerdict } from "./plan.ts";

/** Describes a plan that was let through: the rules allowed each tool, or a person did. */
export function toPermissionSet(verdicts: readonly ToolVerdict[]): PermissionSet {
  return verdicts
    .map(({ tool, effect, decision, source }): PermittedTool => {
      const isRule = decision === "allow" && source.kind !== "remembered";
      return { tool, effect, allowedBy: isRule ? "rule" : "person" };
    })
    .toSorted((a, b) => (a.tool < b.tool ? -1 : 1));
}

interface VersionKey {
  readonly org: string;
  readonly id: string;
  readonly version: number;
}

export async function writePermissionSet(db: Db, { org, id, version }: VersionKey, set: PermissionSet): Promise<void> {
  await sql`
    INSERT INTO capability_permission_set AS s (org, record_id, version, permissions)
    VALUES (${org}, ${id}, ${version}, ${JSON.stringify(set)})
    ON CONFLICT (org, record_id, version) DO UPDATE SET permissions = excluded.permissions, changed_at = now()
    WHERE s.permissions <> excluded.permissions`.execute(db);
}

export async function readPermissionSet(db: Db, { org, id, version }: VersionKey): Promise<PermissionSet> {
  const row = await db
    .selectFrom("capability_permission_set")
    .select("permissions")
    .where("org", "=", org)
    .where("record_id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
  return (row?.permissions ?? []) as PermissionSet;
}
