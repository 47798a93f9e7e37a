import { expect, test } from "vitest";
import { findHeaderParams, paramHeaders } from "./param-headers.ts";

function headerOf(value: unknown, type = "string"): string | undefined {
  const schema = { type: "object", properties: { value: { type, "x-mcp-header": "Value" } } };
  return paramHeaders(schema, { value })["Mcp-Param-Value"];
}

test.each([
  ["eu-west", "eu-west"],
  ["two words", "two words"],
  [true, "true"],
  [42, "42"],
  [-1.5, "-1.5"],
  ["", "=?base64??="],
  [" padded ", "=?base64?IHBhZGRlZCA=?="],
  ["Zürich", "=?base64?WsO8cmljaA==?="],
  ["a\r\nX-Evil: 1", "=?base64?YQ0KWC1FdmlsOiAx?="],
  ["=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="],
  [2 ** 60, undefined],
  [Number.NaN, undefined],
  [null, undefined],
  [{}, undefined],
])("paramHeaders writes %j as %s", (value, expected) => {
  expect(headerOf(value)).toBe(expected);
});

function marked(header: unknown, type: unknown = "string"): Record<string, unknown> {
  return { type, "x-mcp-header": header };
}

test("findHeaderParams takes marked primitives at any depth of properties, and nothing else", () => {
  const schema = {
    properties: {
      plain: marked("Plain"),
      again: marked("PLAIN"),
      deep: { type: "object", properties: { inner: marked("Inner", "integer") } },
      list: { type: "array", items: marked("Item") },
      either: { anyOf: [marked("Either")] },
      object: marked("Object", "object"),
      spaced: marked("not a token"),
      number: marked(7),
    },
  };
  expect(findHeaderParams(schema)).toEqual([
    { path: ["plain"], header: "Plain" },
    { path: ["deep", "inner"], header: "Inner" },
  ]);
  expect(paramHeaders(schema, { deep: { inner: 3 } })).toEqual({ "Mcp-Param-Inner": "3" });
  expect(paramHeaders(schema, undefined)).toEqual({});
});
