import { v7 as newId } from "uuid";
import { analyseProgram } from "../../src/analysis/analyse-program.ts";
import type { AnalysedProgram } from "../../src/analysis/structure.ts";
import type { Db } from "../../src/db/client.ts";

/** Seeds a capability as the product stores it: record, first version, counters, source. Returns the record's id. */
export async function seedCapability(
  db: Db,
  action: string,
  scope = { org: "local", project: "default" },
  code?: string,
): Promise<string> {
  const id = newId();
  const { org, project } = scope;
  const text = code ?? `return await mcp.fs.read({ path: "${action} ${id}\\n\u2028" });`;
  const { hash, structure, parameters, tools } = analyse(text);
  const short = hash.slice(0, 4);
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto("capability_records")
      .values({
        org,
        id,
        project,
        fqdn: `${org}.${project}.fs.${action}.${short}`,
        display_name: `fs:${action}`,
        namespace: "fs",
        action,
        hash: short,
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
        code_snippet: text,
        source_hash: hash,
        structure: JSON.stringify(structure),
        parameters_schema: JSON.stringify(parameters),
        tools_used: [...tools],
        signature: `sha256:${hash}`,
      })
      .execute();
    await tx
      .insertInto("capability_source")
      .values({ org, project, source_hash: hash, record_id: id, version: 1 })
      .execute();
    await tx.insertInto("capability_stat").values({ org, record_id: id }).execute();
  });
  return id;
}

function analyse(code: string): AnalysedProgram {
  const outcome = analyseProgram(code, { findTool: () => undefined });
  if (outcome.kind === "syntax_error") throw new Error(outcome.problem.message);
  return outcome.program;
}
