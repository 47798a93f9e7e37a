import { expect, test } from "vitest";
import { contentHash } from "./content-hash.ts";

const tool = { name: "read", inputSchema: { type: "object", required: ["a", "b"], properties: { a: {}, b: {} } } };

test("contentHash does not depend on the order of keys, nor on keys without a value", () => {
  const reordered = {
    description: undefined,
    inputSchema: { properties: { b: {}, a: {} }, required: ["a", "b"], type: "object" },
    name: "read",
  };
  expect(contentHash(reordered)).toBe(contentHash(tool));
  expect(contentHash(JSON.parse(JSON.stringify(tool)))).toBe(contentHash(tool));
});

test("contentHash differs with every value, with the order of a list, and with nesting", () => {
  const others = [
    { ...tool, name: "Read" },
    { ...tool, description: "" },
    { ...tool, inputSchema: { ...tool.inputSchema, required: ["b", "a"] } },
    { ...tool, inputSchema: { ...tool.inputSchema, properties: { a: { b: {} } } } },
    { ...tool, annotations: null },
    [tool],
    JSON.stringify(tool),
    undefined,
  ];
  expect(new Set([tool, ...others].map(contentHash)).size).toBe(others.length + 1);
});
