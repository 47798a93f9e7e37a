import { describe, expect, test } from "vitest";
import { createUriMatcher, LONGEST_URI } from "./uri-template.ts";

function expected(template: string, uri: string): boolean {
  const parts = template.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".+")}$`, "s").test(uri);
}

describe("createUriMatcher", () => {
  test.each([
    ["demo://{id}", "demo://7", true],
    ["demo://{id}", "demo://", false],
    ["demo://{id}/x.y", "demo://7/x.y", true],
    ["demo://{id}/x.y", "demo://7/xzy", false],
    ["{a}{b}", "x", false],
    ["{a}{b}", "xy", true],
    ["a{x}ab{y}", "aaabab", true],
    ["file:///a", "file:///a", true],
    ["a{b", "a{b", true],
  ])("%s and %s: %s", (template, uri, matches) => {
    expect(createUriMatcher(template)(uri)).toBe(matches);
  });

  test("agrees with a backtracking search on short texts", () => {
    const texts = (letters: string, length: number): string[] =>
      length === 0 ? [""] : texts(letters, length - 1).flatMap((text) => [text, ...[...letters].map((l) => text + l)]);
    const templates = ["{x}ab{y}", "a{x}aba{y}b", "{x}{y}a", "aa{x}aa{y}aa", "{x}abab{y}ab"];
    const uris = [...new Set(texts("ab", 8))];
    for (const template of templates) {
      const matches = createUriMatcher(template);
      expect(uris.filter((uri) => matches(uri))).toEqual(uris.filter((uri) => expected(template, uri)));
    }
  });

  test("matches no URI beyond the limit", () => {
    expect(createUriMatcher("{x}")("a".repeat(LONGEST_URI + 1))).toBe(false);
  });
});
