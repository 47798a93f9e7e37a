import { describe, expect, test } from "vitest";
import { computeCoverage, inputsOf, mapFields } from "./provides.ts";

const inputs = (required: string[], optional: string[] = []) => ({
  required: new Set(required),
  optional: new Set(optional),
});

describe("computeCoverage", () => {
  test.each([
    ["all that is required", ["json"], inputs(["json"]), "strict"],
    ["more than is required", ["a", "b"], inputs(["a"], ["b"]), "strict"],
    ["a part of what is required", ["body"], inputs(["url", "body"]), "partial"],
    ["something that can be left out", ["retries"], inputs(["url"], ["retries"]), "optional"],
    ["something of what can all be left out", ["a"], inputs([], ["a", "b"]), "optional"],
    ["nothing", ["content"], inputs(["url"], ["retries"]), null],
  ])("rates %s", (_, outputs, consumer, expected) => {
    expect(computeCoverage(new Set(outputs), consumer)).toBe(expected);
  });

  test("reads required fields from a schema", () => {
    const schema = { type: "object", properties: { a: {}, b: {} }, required: ["a"] };
    expect(inputsOf(schema)).toEqual(inputs(["a"], ["b"]));
    expect(inputsOf({})).toEqual(inputs([]));
  });
});

describe("mapFields", () => {
  const output = {
    properties: {
      text: { type: "string" },
      size: { type: "integer" },
      list: { items: { properties: { id: { type: ["string", "null"] } } } },
    },
  };
  const input = { properties: { text: { type: "string" }, number: { type: "number" }, open: {} } };

  test.each([
    ["text", "text", true],
    ["size", "number", true],
    ["size", "text", false],
    ["list[0].id", "text", true],
    ["list[0].id", "number", false],
    ["unknown.field", "text", true],
    ["$", "open", true],
    ["text", "open", true],
  ])("maps %s to %s", (fromPath, toField, typeCompatible) => {
    expect(mapFields([{ fromPath, toField }], output, input)).toEqual([
      { fromField: fromPath, toField, typeCompatible },
    ]);
  });
});
