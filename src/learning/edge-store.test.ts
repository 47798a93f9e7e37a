import { describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import { type GraphEdge, insertInferredEdges, readEdges, replaceTemplateEdges } from "./edge-store.ts";

const scope = { org: "acme", project: "shop" };
const provides = (from: string, to: string): GraphEdge => ({ from, to, type: "provides" });

describe.each(engines)("edges on %s", (engine) => {
  test("only gain confidence: from schemas, program texts, runs", async () => {
    await using client = await openTestDatabase(engine);
    const { db } = client;
    const infer = (...edges: GraphEdge[]) => db.transaction().execute((tx) => insertInferredEdges(tx, scope, edges));
    const read = async (): Promise<string[]> =>
      (await readEdges(db, scope, ["a:x", "b:y", "c:z"])).map(
        ({ from, to, type, source, confidence }) => `${from} ${to} ${type} ${source} ${confidence}`,
      );
    await replaceTemplateEdges(db, scope, [provides("a:x", "b:y"), provides("b:y", "c:z")]);
    await replaceTemplateEdges(db, scope, [provides("a:x", "b:y"), provides("b:y", "c:z")]);
    expect(await read()).toEqual(["a:x b:y provides template 0.3", "b:y c:z provides template 0.3"]);
    await infer(provides("a:x", "b:y"), { from: "a:x", to: "b:y", type: "sequence" });
    await infer();
    expect(await read()).toEqual([
      "a:x b:y provides inferred 0.5",
      "a:x b:y sequence inferred 0.5",
      "b:y c:z provides template 0.3",
    ]);
    await db
      .updateTable("tool_edge")
      .set({ source: "observed", observed_count: 9 })
      .where("edge_type", "=", "sequence")
      .execute();
    await infer({ from: "a:x", to: "b:y", type: "sequence" });
    await replaceTemplateEdges(db, scope, [provides("a:x", "c:z")]);
    expect(await read()).toEqual([
      "a:x b:y provides inferred 0.5",
      "a:x b:y sequence observed 0.9",
      "a:x c:z provides template 0.3",
    ]);
    expect(await readEdges(db, { ...scope, project: "other" }, ["a:x", "b:y", "c:z"])).toEqual([]);
    expect(await readEdges(db, scope, [])).toEqual([]);
  });
});
