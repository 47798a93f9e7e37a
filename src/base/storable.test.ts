import { expect, test } from "vitest";
import { storableJson, storableText, toStorable } from "./storable.ts";

test("storableJson replaces zeros and lone surrogates in texts and keys, and nothing that only looks like one", () => {
  const value = { "a\u0000": ["b\uD800", "😀", String.raw`\u0000 \ud83d`, "\\\u0000"] };
  expect(JSON.parse(storableJson(value))).toEqual({
    "a\uFFFD": ["b\uFFFD", "😀", String.raw`\u0000 \ud83d`, "\\\uFFFD"],
  });
  expect(storableText("a\u0000\uDC00")).toBe("a\uFFFD\uFFFD");
});

test("toStorable returns the same value where nothing is replaced", () => {
  const value = { a: "\u0001" };
  expect(toStorable(value)).toBe(value);
  expect(toStorable({ "\u0000": 1 })).toEqual({ "\uFFFD": 1 });
});
