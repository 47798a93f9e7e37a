import { expect, test } from "vitest";
import { describeReview, makeVisible } from "./reviews.ts";

test("makeVisible shows what a terminal would hide or obey", () => {
  expect(makeVisible("größe 😀 a\tb")).toBe(String.raw`größe 😀 a\u{9}b`);
  expect(makeVisible("\u001B[2Kfine\r")).toBe(String.raw`\u{1b}[2Kfine\u{d}`);
  expect(makeVisible("a\u200Bb\u202Ec\u{E0041}\uFEFF")).toBe(String.raw`a\u{200b}b\u{202e}c\u{e0041}\u{feff}`);
});

test("describeReview marks what went and what came", () => {
  const review = {
    tool: "files:read",
    state: "open",
    hash: "0123456789abcdef",
    seenAt: "2026-11-15T00:00:00.000Z",
    differences: [
      { path: "description", before: "one", after: "two\nthree" },
      { path: "inputSchema.properties.to.type", after: "string" },
    ],
  } as const;
  expect(describeReview(review)).toBe(
    [
      "files:read  open, definition 0123456789ab, seen 2026-11-15T00:00:00.000Z",
      "  description",
      "    - one",
      "    + two",
      "    + three",
      "  inputSchema.properties.to.type",
      "    + string",
    ].join("\n"),
  );
});
