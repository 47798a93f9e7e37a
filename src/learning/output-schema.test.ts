import { expect, test } from "vitest";
import { inferSchema, mergeSchemas } from "./output-schema.ts";

test("learns types, properties and required ones", () => {
  const merged = mergeSchemas(inferSchema({ a: 1, b: "x" }), inferSchema({ a: 1.5, c: null }));
  expect(merged).toEqual({
    type: "object",
    properties: { a: { type: "number" }, b: { type: "string" }, c: { type: "null" } },
    required: ["a"],
  });
});

test("items of arrays are merged, empty arrays say nothing about them", () => {
  expect(inferSchema([1, "a", { k: true }])).toEqual({
    type: "array",
    items: { type: ["integer", "object", "string"], properties: { k: { type: "boolean" } }, required: ["k"] },
  });
  expect(mergeSchemas(inferSchema([]), inferSchema([1]))).toEqual({ type: "array", items: { type: "integer" } });
});

test("merging is idempotent and does not depend on the order", () => {
  const values = [{ a: 1 }, { a: "x", b: [1] }, null, [{ a: 2 }], { b: [] }] as const;
  for (const one of values) {
    for (const other of values) {
      const merged = mergeSchemas(inferSchema(one), inferSchema(other));
      expect(mergeSchemas(merged, inferSchema(other))).toEqual(merged);
      expect(mergeSchemas(inferSchema(other), inferSchema(one))).toEqual(merged);
    }
  }
});

test("objects with very many keys are maps", () => {
  const map = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, index]));
  expect(inferSchema(map)).toEqual({ type: "object" });
  expect(mergeSchemas(inferSchema(map), inferSchema({ a: 1 }))).toEqual({ type: "object" });
});
