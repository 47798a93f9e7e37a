import { v7 as newId } from "uuid";
import type { Db } from "../../src/db/client.ts";

/** Seeds a capability as the product stores it: record, first version, counters. Returns the record's id. */
export async function seedCapability(
  db: Db,
  action: string,
  scope = { org: "local", project: "default" },
): Promise<string> {
  const id = newId();
  const { org, project } = scope;
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto("capability_records")
      .values({
        org,
        id,
        project,
        fqdn: `${org}.${project}.fs.${action}.${id.slice(-4)}`,
        display_name: `fs:${action}`,
        namespace: "fs",
        action,
        hash: id.slice(-4),
        state: "active",
        tags: ["files", "größe \u2028 \u{1F600}"],
        forked_from: newId(),
      })
      .execute();
    await tx
      .insertInto("capability_versions")
      .values({
        org,
        record_id: id,
        version: 1,
        source_kind: "code",
        code_snippet: `return await mcp.fs.read({ path: "${action}\\n\u2028" });`,
        source_hash: id,
        parameters_schema: JSON.stringify({ type: "object", n: 1.5e-7, deep: [null, { b: 1, a: 2 }] }),
        tools_used: ["fs:read"],
      })
      .execute();
    await tx.insertInto("capability_stat").values({ org, record_id: id, usage_count: 9_007_199_254_740_991 }).execute();
  });
  return id;
}
