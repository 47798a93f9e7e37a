import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseSync, type ParserOptions } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { parseText } from "./parse-tree.ts";
import { SharedMemory } from "./shared-memory.ts";

const OPTIONS: ParserOptions = { lang: "ts", sourceType: "module", preserveParens: true, showSemanticErrors: true };

const memory = SharedMemory.open();

function differs(text: string): boolean {
  const shared = parseText({ text, longestLine: 0 }, OPTIONS);
  const { program, comments, errors } = parseSync("program.ts", text, OPTIONS);
  return !isDeepStrictEqual([shared.program.body, shared.comments, shared.errors], [program.body, comments, errors]);
}

describe("a tree from shared memory is the one from JSON", () => {
  test.each([
    ["nothing", ""],
    ["letters outside of ASCII", 'const größe = "Ä 🎉 \\u{1F389}"; // ü\nreturn größe.length + `→ ${größe}`.length'],
    ["half of a pair", 'const a = "\\ud83d", b = `\\ud83d`; const c = "\ud83d";'],
    [
      "a pattern and big numbers",
      "const a = /x(?<y>[a-z]+)/giu, b = 12345678901234567890n, c = 1e999, d = 0xff, e = .5;",
    ],
    ["a pattern Node does not know", "const a = /(?<a>x)(?<a>y)/;"],
    ["holes and comments", "/* a */ const [, a, , b = 1, ...c] = [1, , 2,]; // b"],
    ["types", "interface A<T> { a?: T } enum B { C = 1 } const a = <T,>(b: T): b is T => b as never; let c!: string;"],
    [
      "classes",
      "class A extends B<C> implements D { private static #a = 1; declare b: string; get c() { return this.#a } }",
    ],
    ["a syntax error", "const a = ;\nconst b = 1; const b = 2;"],
    ["another one with letters before it", "const ä = 'ü';\nif ("],
    ["what is too long", "a([1, 2, 3]);\n".repeat(15_000)],
  ])("for %s", (_, text) => expect(differs(text)).toBe(false));

  test("for this project's own sources", () => {
    const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".ts"));
    const differing = names.filter((name) => differs(readFileSync(join(import.meta.dirname, name), "utf8")));
    expect(differing).toEqual([]);
  });
});

describe.runIf(memory !== undefined)("shared memory", () => {
  test("is read for the deepest programs that are let through", () => {
    const deep = [`${"a + ".repeat(3000)}a`, `a${".b()".repeat(1500)}`, `${"[".repeat(190)}${"]".repeat(190)}`];
    for (const text of deep) expect(memory?.parse(text, OPTIONS).program.body[0]?.end).toBe(text.length);
  });

  test("is left for JSON where a tree is too deep for it", () => {
    const text = `${"a + ".repeat(12_000)}a`;
    expect(() => memory?.parse(text, OPTIONS)).toThrow(RangeError);
    expect(parseText({ text, longestLine: 0 }, OPTIONS).program.body[0]?.end).toBe(text.length);
  });

  test("is not counted as used", () => {
    expect(process.memoryUsage().external).toBeLessThan(1e9);
  });
});
