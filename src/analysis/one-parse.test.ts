import { expect, test, vi } from "vitest";
import { analyseProgram } from "./analyse-program.ts";
import { parseProgram } from "./parse-program.ts";

vi.mock(import("./parse-program.ts"), async (load) => {
  const real = await load();
  return { ...real, parseProgram: vi.fn<typeof real.parseProgram>(real.parseProgram) };
});

test("structure, parameters, hash and the program to run come from one parse of the text", () => {
  const text = `const { content } = await mcp.fs.read({ path: args.path }); return content as string;`;
  const outcome = analyseProgram(text, { findTool: () => undefined });
  expect(outcome).toMatchObject({
    kind: "program",
    program: {
      structure: { nodes: [{ id: "n1", type: "task" }] },
      parameters: { properties: { path: {} } },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  });
  expect(vi.mocked(parseProgram)).toHaveBeenCalledTimes(1);
});
