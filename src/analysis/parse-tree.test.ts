import { isDeepStrictEqual } from "node:util";
import { parseSync, type ParserOptions } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { parseText } from "./parse-tree.ts";

const OPTIONS: ParserOptions = { lang: "ts", sourceType: "module", preserveParens: true, showSemanticErrors: true };

function differs(text: string): boolean {
  const ours = parseText(text, OPTIONS);
  const { program, comments, errors } = parseSync("program.ts", text, OPTIONS);
  return !isDeepStrictEqual([ours.program.body, ours.comments, ours.errors], [program.body, comments, errors]);
}

describe("parseText returns the parser's tree, comments and errors", () => {
  test.each([
    ["nothing", ""],
    ["letters outside of ASCII", 'const größe = "Ä 🎉 \\u{1F389}"; // ü\nreturn größe.length + `→ ${größe}`.length'],
    ["half of a pair", 'const a = "\\ud83d", b = `\\ud83d`; const c = "\ud83d";'],
    ["holes and comments", "/* a */ const [, a, , b = 1, ...c] = [1, , 2,]; // b"],
    ["a syntax error", "const a = ;\nconst b = 1; const b = 2;"],
    ["many statements", "a([1, 2, 3]);\n".repeat(15_000)],
  ])("for %s", (_, text) => expect(differs(text)).toBe(false));
});

test("parseText reads the deepest programs that are let through, and deeper chains", () => {
  const deep = [
    `${"a + ".repeat(3000)}a`,
    `a${".b()".repeat(1500)}`,
    `${"[".repeat(190)}${"]".repeat(190)}`,
    `${"a + ".repeat(12_000)}a`,
  ];
  for (const text of deep) expect(parseText(text, OPTIONS).program.body[0]?.end).toBe(text.length);
});
