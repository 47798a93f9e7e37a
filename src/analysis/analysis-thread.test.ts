import { afterAll, describe, expect, test } from "vitest";
import { type AnalysisLimits, AnalysisThread, type VersionedCatalogue } from "./analysis-thread.ts";

const generous: AnalysisLimits = { maxMillis: 60_000, maxHeapMb: 256, maxOutputBytes: 1024 * 1024 };
const noTools: VersionedCatalogue = { version: 1, findTool: () => undefined };

function manyLines(count: number): string {
  return Array.from({ length: count }, (_, at) => `let v${at} = { a: [${at}, [args.a${at}]] };`).join("\n");
}

describe("AnalysisThread", () => {
  let limits = generous;
  const thread = new AnalysisThread(() => limits);
  afterAll(() => thread[Symbol.asyncDispose]());

  test("analyses with the tools it asks for, as they are now", async () => {
    let version = 1;
    const tools: VersionedCatalogue = {
      get version() {
        return version;
      },
      findTool: (server, tool) => ({
        id: `${server}:${tool}`,
        inputSchema: { properties: { path: { type: "string", description: `version ${version}` } } },
      }),
    };
    const parametersOf = async (): Promise<unknown> => {
      const outcome = await thread.analyse("return await mcp.fs.read({ path: args.path })", tools);
      return outcome.kind === "program" ? outcome.program.parameters["properties"] : outcome;
    };
    expect(await parametersOf()).toEqual({ path: { type: "string", description: "version 1" } });
    version = 2;
    expect(await parametersOf()).toEqual({ path: { type: "string", description: "version 2" } });
  });

  test("maps positions of the marked code to the program", async () => {
    const outcome = await thread.analyse("const a: number = 1;\nawait mcp.fs.read({}); throw 1", noTools);
    if (outcome.kind !== "program") throw new Error(outcome.kind);
    const { code, originalPosition } = outcome.program.instrumented;
    const column = (code.split("\n")[1] ?? "").indexOf("throw");
    expect(originalPosition(2, column)).toEqual({ line: 2, column: 23 });
  });

  test("ends a program at its time, and takes the next one", async () => {
    limits = { ...generous, maxMillis: 1 };
    expect(await thread.analyse(manyLines(3_000), noTools)).toEqual({ kind: "limit", limit: "maxMillis" });
    limits = generous;
    expect(await thread.analyse("return 1", noTools)).toMatchObject({ kind: "program" });
  });

  test("ends a program at its memory, and takes the next one", async () => {
    await using small = new AnalysisThread(() => ({ ...generous, maxHeapMb: 16 }));
    expect(await small.analyse(manyLines(6_000), noTools)).toEqual({ kind: "limit", limit: "maxHeapMb" });
    expect(await small.analyse("return 1", noTools)).toMatchObject({ kind: "program" });
  });
});
