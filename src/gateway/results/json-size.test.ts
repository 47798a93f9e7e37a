import { expect, test } from "vitest";
import { jsonBytes } from "./json-size.ts";

test.each([
  null,
  true,
  -1.5e-7,
  "",
  'é"\n😀\u2028\u0001',
  [],
  {},
  [1, [], {}, "x"],
  { a: 1, é: [null, { b: "" }], c: undefined },
])("jsonBytes of %j is the length of its JSON", (value) => {
  const exact = Buffer.byteLength(JSON.stringify(value));
  expect([jsonBytes(value), jsonBytes(value, 1_000)]).toEqual([exact, exact]);
});

test("jsonBytes is exact up to the limit and larger beyond it", () => {
  const value = { rows: Array.from({ length: 50 }, (_, id) => ({ id, name: "é".repeat(id) })) };
  const exact = jsonBytes(value);
  for (let limit = 0; limit < exact; limit += 1) expect(jsonBytes(value, limit)).toBeGreaterThan(limit);
  for (const limit of [exact, exact + 1]) expect(jsonBytes(value, limit)).toBe(exact);
});
