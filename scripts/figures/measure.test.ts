import { expect, test } from "vitest";
import { doubleCasts, functionLengths, importCycles, testClaims, typeNames } from "./measure.ts";
import { parseSource } from "./source-file.ts";

test("functionLengths counts the lines of functions of every kind, shortest first", () => {
  const file = parseSource(
    "src/a.ts",
    "function long() {\n  return 1;\n}\nconst short = () => 1;\nclass A {\n  m() {\n    return 2;\n  }\n}\n",
  );
  expect(functionLengths([file])).toEqual([1, 3, 3]);
});

test("typeNames names the files of each interface, alias and class once", () => {
  const one = parseSource("src/a.ts", "interface Row { a: 1 }\ninterface Row { b: 2 }\ntype Other = 1;\n");
  const two = parseSource("src/b.ts", "export class Row {}\nconst Other = 1;\n");
  expect([...typeNames([one, two])]).toEqual([
    ["Row", ["src/a.ts", "src/b.ts"]],
    ["Other", ["src/a.ts"]],
  ]);
});

test("doubleCasts finds a cast through unknown and no other", () => {
  const file = parseSource(
    "src/a.ts",
    "const a = x as unknown as string;\nconst b = x as unknown;\nconst c = x as string;\n",
  );
  expect(doubleCasts([file])).toEqual(["src/a.ts:1"]);
});

test("importCycles groups files that reach each other, with or without imports of types", () => {
  const a = parseSource("src/a.ts", 'import { b } from "./b.ts";\nexport const a = b;\n');
  const b = parseSource("src/b.ts", 'import type { c } from "./lib/c.ts";\nexport let b: typeof c;\n');
  const c = parseSource("src/lib/c.ts", 'export const c = await import("../a.ts");\n');
  expect(importCycles([a, b, c], "values")).toEqual([]);
  expect(importCycles([a, b, c], "all")).toEqual([["src/a.ts", "src/b.ts", "src/lib/c.ts"]]);
});

test("testClaims joins the names of groups and counts the ids in brackets", () => {
  const file = parseSource(
    "test/acceptance/a.test.ts",
    'describe("names [A]", () => {\n  test.each([1])("[B-1] work", () => { expect(list).toContain("[no]"); });\n});\nit(`[C] over ${x}`, f);\n',
  );
  expect(testClaims(file)).toEqual([
    { name: "names [A] [B-1] work", ids: ["A", "B-1"] },
    { name: "[C] over …", ids: ["C"] },
  ]);
});
