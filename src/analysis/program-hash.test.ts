import { describe, expect, test } from "vitest";
import { generateProgram } from "../../test/support/program-generator.ts";
import { analyseProgram } from "./analyse-program.ts";

function hash(source: string): string {
  const outcome = analyseProgram(source, { findTool: () => undefined });
  if (outcome.kind !== "program") throw new Error(`${outcome.problem.message}\n${source}`);
  return outcome.program.hash;
}

const PROGRAM = `const { a, b: [c = 1] } = args;
if (a > 1 && c) { await mcp.x.y({ text: "it's", n: 1 }) } else for (const v of [1, , 2]) f(v, () => -v);
function f(x, y) { return x ?? y; }
class A { #p = 1; static s() {} get g() { return this.#p; } }
return \`a\${b}\` + /x/g.source;`;

describe("ProgramHash", () => {
  test("is a sha256 in hex that does not change between releases", () => {
    expect(hash("return await mcp.fs.read({ path: args.path });")).toBe(
      "6c91675486dcf006ff51063fad7a163250ddb4722b5dc65098563283544ba976",
    );
  });

  test("H2: gives literals of different values different hashes", () => {
    const literals = [
      "null",
      "1e999",
      "0",
      "1",
      "1n",
      "16n",
      '"1"',
      '"1n"',
      '"null"',
      '"Infinity"',
      "Infinity",
      "true",
      '"true"',
      "/a/",
      "/a/g",
      '"/a/"',
      "/[/g]/",
      "/a)/",
      '"\\ud800"',
      '"\\ud801"',
      '"\\ufffd"',
      '"\\\\ud800"',
      '"\\0"',
      "`a`",
      "`\\u0061`",
      "String.raw`a`",
      "-0",
      "-1e999",
      "-null",
      "undefined",
      "({ __proto__: a })",
      "({ ['__proto__']: a })",
      "({ __proto__ })",
      "a?.b.c",
      "(a?.b).c",
      "({ [1e999]: 1 })",
      "({ [null]: 1 })",
    ];
    const hashes = literals.map((literal) => hash(`return (${literal});`));
    expect(new Set(hashes).size).toBe(literals.length);
    expect(hash("return 1e400;")).toBe(hash("return 1e999;"));
    expect(hash("return { 1e999: 1 };")).toBe(hash('return { "Infinity": 1 };'));
  });

  test("ignores semicolons, types and parentheses around them", () => {
    for (let seed = 1; seed <= 80; seed += 1) {
      const options = { seed, tools: ["fs:read", "my-server:do it"] };
      const expected = hash(generateProgram(options));
      expect(hash(generateProgram({ ...options, bare: true }))).toBe(expected);
      expect(hash(generateProgram({ ...options, types: true }))).toBe(expected);
    }
  });

  test("ignores comments, white space and quotes", () => {
    for (let seed = 1; seed <= 80; seed += 1) {
      const source = generateProgram({ seed, tools: ["fs:read", "a:b"] });
      const changed = source
        .replaceAll('"text"', "'text'")
        .replaceAll(/^/gm, "\t/* a comment */ ")
        .replaceAll("\n", " // another\r\n\r\n")
        .replaceAll("String(", "(String)(");
      expect(hash(changed)).toBe(hash(source));
    }
  });

  test.each([
    ["a trailing comma", '{ text: "it\'s", n: 1 }', '{ text: "it\'s", n: 1, }'],
    ["escapes", '"it\'s"', "'it\\u0027s'"],
    ["parentheses", "a > 1 && c", "((a) > (1)) && (c)"],
    ["quotes around a property", "n: 1", "'n': 1"],
    ["an optional parameter", "(x, y)", "(this: void, x?: number, y: any = undefined as never)"],
    ["a type", "return x ?? y", "type T = 1; return x ?? y"],
    ["empty statements", "return x ?? y", "; ; return x ?? y;;"],
    ["a field that is declared only", "#p = 1;", "#p: number = 1; declare q: string; [key: string]: unknown;"],
  ])("ignores %s", (name, from, to) => {
    expect(PROGRAM).toContain(from);
    const expected = name === "an optional parameter" ? PROGRAM.replace(from, "(x, y = undefined)") : PROGRAM;
    expect(hash(PROGRAM.replace(from, to))).toBe(hash(expected));
  });

  test.each([
    ["a name", "text:", "txt:"],
    ["a text", "it's", "its"],
    ["a number", "n: 1", "n: 2"],
    ["an operator", "a > 1", "a >= 1"],
    ["an order", "[1, , 2]", "[2, , 1]"],
    ["a hole", "[1, , 2]", "[1, 2]"],
    ["another hole", "[1, , 2]", "[1, 2, ,]"],
    ["what is awaited", "await mcp", "mcp"],
    ["optional access", "mcp.x.y", "mcp.x?.y"],
    ["computed access", "mcp.x.y", "mcp.x[y]"],
    ["a modifier", "static s", "s"],
    ["a kind of method", "get g", "g"],
    ["an async function", "() => -v", "async () => -v"],
    ["a generator", "function f", "function* f"],
    ["a kind of variable", "const {", "let {"],
    ["a flag", "/x/g", "/x/y"],
    ["a pattern", "/x/g", "/y/g"],
    ["what a template says", "`a${", "`b${"],
    ["grouping", "a > 1 && c", "a > (1 && c)"],
    ["a prefix", "-v", "+v"],
    ["an empty loop", "f(v, () => -v);", ";"],
    ["a default", "c = 1", "c = 2"],
    ["private names", "#p", "p"],
  ])("notices %s", (_, from, to) => {
    expect(PROGRAM).toContain(from);
    expect(hash(PROGRAM.replaceAll(from, to))).not.toBe(hash(PROGRAM));
  });
});
