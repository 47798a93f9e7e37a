import { expect, test } from "vitest";
import { findProseProblem, readComments } from "./comments.ts";

test("readComments joins line comments on consecutive lines and keeps the first line's number", () => {
  const text = ["const a = 1;", "// Keeps the order,", "// which callers rely on.", "const b = 2; // Once."].join("\n");
  expect(readComments("x.ts", text)).toEqual([
    { line: 2, text: "Keeps the order, which callers rely on." },
    { line: 4, text: "Once." },
  ]);
});

test("readComments keeps comments at the ends of consecutive lines apart", () => {
  const text = "const a = 1; // one\nconst b = 2; // two\n";
  expect(readComments("x.ts", text).map(({ text: words }) => words)).toEqual(["one", "two"]);
});

test("readComments takes the marks off a block and sees no comment in a text", () => {
  const text = '/**\n * Reads a file.\n * Slowly.\n */\nconst url = "https://example.org";\n';
  expect(readComments("x.ts", text)).toEqual([{ line: 1, text: "Reads a file. Slowly." }]);
});

test.each([
  ["What a caller gets", "opening"],
  ["Whoever asks", "opening"],
  ["Of the two, the first", "opening"],
  ["Those that wait", "opening"],
  ["Tells whoever asks", "whoever"],
  ["Often read", undefined],
  ["Says what a caller gets", undefined],
])("findProseProblem of %j is %s", (comment, problem) => {
  expect(findProseProblem(comment)).toBe(problem);
});
