import { expect, test } from "vitest";
import { stripInvisible, toVisible } from "./visible.ts";

const HIDDEN = [
  0x00, 0x1b, 0x7f, 0x85, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200d, 0x202e, 0x2060,
  0x2066, 0x2800, 0x3164, 0xe000, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffc, 0xffff, 0x13441, 0x16fe4, 0x1bca0, 0x1d159,
  0x1d173, 0xe0041, 0xe0100, 0x10fffd,
];
const BLANK = [0xa0, 0x1680, 0x2003, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000];

test.each([...HIDDEN, ...BLANK])("code point %i is shown by its number", (point) => {
  expect(toVisible(`a${String.fromCodePoint(point)}b`)).toBe(`a\\u{${point.toString(16)}}b`);
});

test("stripInvisible keeps words apart and nothing hidden", () => {
  expect(stripInvisible(HIDDEN.map((point) => String.fromCodePoint(point)).join("x"))).toBe("x".repeat(33));
  expect(stripInvisible(BLANK.map((point) => String.fromCodePoint(point)).join("x"))).toBe(" x x x x x x x ");
  expect(stripInvisible("\uD800")).toBe("\uFFFD");
});

test("ordinary text of many scripts stays as it is", () => {
  const text = "größe 😀 naïve 日本語 한국어 हिन्दी עברית\n\tżółć";
  expect(toVisible(text)).toBe(text);
  expect(stripInvisible(text)).toBe(text);
});
