import { expect, test } from "vitest";
import { parseText } from "./parse-message.ts";

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

test("parseText gives back what a text says", () => {
  expect(parseText(`{"a":[1]}`)).toEqual({ kind: "parsed", value: { a: [1] } });
});

test.each(["", "{", "NaN", `{"a":1}}`])("parseText refuses %j as no JSON", (text) => {
  expect(parseText(text)).toMatchObject({ kind: "refused", code: -32_700 });
});

test("parseText refuses what is nested too deep, however deep", () => {
  expect(parseText(nested(500))).toMatchObject({ kind: "parsed" });
  expect(parseText(nested(501))).toMatchObject({ kind: "refused", code: -32_600 });
  expect(parseText(`{"id":"a","x":${nested(500)}}`)).toMatchObject({ kind: "refused", id: "a" });
  expect(parseText(nested(1_000_000))).toMatchObject({ kind: "refused", code: -32_600 });
});
