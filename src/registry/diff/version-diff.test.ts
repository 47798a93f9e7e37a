import { expect, test } from "vitest";
import { analyseProgram } from "../../analysis/analyse-program.ts";
import { diffCode } from "./code-diff.ts";
import { diffSchemas } from "./schema-diff.ts";
import { type ComparedVersion, diffVersions } from "./version-diff.ts";

const catalogue = { findTool: (server: string, tool: string) => ({ id: `${server}:${tool}` }) };

function version(code: string): ComparedVersion {
  const outcome = analyseProgram(code, catalogue);
  if (outcome.kind !== "program") throw new Error(outcome.problem.message);
  const { structure, parameters, tools } = outcome.program;
  return {
    source: { type: "code", code },
    structure,
    parameters,
    toolsUsed: tools,
  };
}

test("diffCode prints a unified diff with the surroundings of each change", () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
  const changed = lines.with(1, "second").toSpliced(15, 1);
  expect(diffCode(lines.join("\n"), changed.join("\n"))).toBe(
    [
      "@@ -1,5 +1,5 @@",
      " line 1",
      "-line 2",
      "+second",
      " line 3",
      " line 4",
      " line 5",
      "@@ -13,7 +13,6 @@",
      " line 13",
      " line 14",
      " line 15",
      "-line 16",
      " line 17",
      " line 18",
      " line 19",
    ].join("\n"),
  );
  expect(diffCode("same", "same")).toBe("");
});

test("diffVersions lists added and removed nodes, edges and tools", () => {
  const before = version(`const a = await mcp.fs.read({ path: args.path });\nreturn await mcp.db.save({ a });`);
  const after = version(
    `const a = await mcp.fs.read({ path: args.path });\nif (a.ok) await mcp.mail.send({ a });\nreturn a;`,
  );
  const { structure, tools, code, breaking } = diffVersions(before, after);
  expect(tools).toEqual({ added: ["mail:send"], removed: ["db:save"] });
  expect(structure.nodes.removed).toEqual(["db:save (n1)"]);
  expect(structure.nodes.added.some((label) => label.startsWith("mail:send"))).toBe(true);
  expect(structure.changed).toEqual([]);
  expect(structure.edges.removed.some((text) => text.includes("db:save"))).toBe(true);
  expect(structure.edges.added.some((text) => text.includes("(conditional true)"))).toBe(true);
  expect(code).toContain("-return await mcp.db.save({ a });");
  expect(breaking).toBe(false);
});

test("diffVersions lists a call whose arguments changed", () => {
  const before = version(`return await mcp.fs.read({ path: "a.txt" });`);
  const after = version(`return await mcp.fs.read({ path: "b.txt" });`);
  const { structure, tools } = diffVersions(before, after);
  expect(structure.changed).toHaveLength(1);
  expect(structure.nodes).toEqual({ added: [], removed: [] });
  expect(structure.edges).toEqual({ added: [], removed: [] });
  expect(tools).toEqual({ added: [], removed: [] });
});

test("diffVersions ignores a node that only moved", () => {
  const before = version(`const a = await mcp.fs.read({ path: "a" });\nreturn await mcp.db.save({ row: a.text });`);
  const after = version(
    `await mcp.log.note({});\nconst a = await mcp.fs.read({ path: "a" });\nreturn await mcp.db.save({ row: a.text });`,
  );
  expect(diffVersions(before, after).structure.changed).toEqual([]);
});

const object = (properties: Record<string, unknown>, rest: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: "object",
  properties,
  ...rest,
});

const cases: [string, Record<string, unknown>, Record<string, unknown>, boolean, RegExp][] = [
  ["a new required one", object({}), object({ a: {} }, { required: ["a"] }), true, /"a" is new and required/],
  ["a new optional one", object({}), object({ a: {} }), false, /can be left out/],
  ["one that is gone", object({ a: {} }), object({}), true, /"a" is gone.*no effect/],
  ["one that is refused", object({ a: {} }), object({}, { additionalProperties: false }), true, /"a" is gone.*refused/],
  ["one required now", object({ a: {} }), object({ a: {} }, { required: ["a"] }), true, /required now/],
  ["one optional now", object({ a: {} }, { required: ["a"] }), object({ a: {} }), false, /left out now/],
  ["a narrower type", object({ a: { type: "number" } }), object({ a: { type: "integer" } }), true, /with number/],
  ["a wider type", object({ a: { type: "integer" } }), object({ a: { type: "number" } }), false, /takes more/],
  ["a type for any", object({ a: {} }), object({ a: { type: "string" } }), true, /any other type/],
  ["a value less", object({ a: { enum: [1, 2] } }), object({ a: { enum: [1] } }), true, /does not take 2/],
  ["a value more", object({ a: { enum: [1] } }), object({ a: { enum: [1, 2] } }), false, /takes 2 as well/],
  ["a higher minimum", object({ a: { minimum: 1 } }), object({ a: { minimum: 2 } }), true, /minimum of "a"/],
  ["a lower minimum", object({ a: { minimum: 2 } }), object({ a: { minimum: 1 } }), false, /takes more/],
  ["a lower maximum", object({ a: { maxLength: 9 } }), object({ a: { maxLength: 3 } }), true, /maxLength of "a"/],
  ["a pattern", object({ a: {} }), object({ a: { pattern: "^x" } }), true, /pattern of "a" was not set/],
  ["a default", object({ a: { default: 1 } }), object({ a: { default: 2 } }), false, /was 1 and is 2/],
  ["items", object({ a: { items: {} } }), object({ a: { items: { type: "string" } } }), true, /"a\[\]"/],
  ["depth", object({ a: object({ b: {} }) }), object({ a: object({}) }), true, /"a\.b" is gone/],
];

test.each(cases)("diffSchemas explains %s", (_what, before, after, breaking, explanation) => {
  const changes = diffSchemas(before, after);
  expect(changes.some((change) => explanation.test(change.explanation) && change.breaking === breaking)).toBe(true);
  expect(changes.some((change) => change.breaking)).toBe(breaking);
  expect(diffSchemas(before, before)).toEqual([]);
});

test("diffSchemas puts breaking changes first", () => {
  const changes = diffSchemas(object({ b: {} }), object({ a: {} }));
  expect(changes.map(({ path, breaking }) => [path, breaking])).toEqual([
    ["b", true],
    ["a", false],
  ]);
});
