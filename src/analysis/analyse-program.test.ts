import { describe, expect, test } from "vitest";
import { sampleCatalogue } from "../../test/support/tool-catalogue.ts";
import { analyseProgram } from "./analyse-program.ts";
import type { AnalysisOutcome } from "./structure.ts";

const analyse = (source: string): AnalysisOutcome => analyseProgram(source, sampleCatalogue);

function labels(source: string): string[] {
  const outcome = analyse(source);
  return outcome.kind === "program" ? outcome.program.structure.nodes.map(({ label }) => label) : [];
}

describe("analyseProgram", () => {
  test("reports the range of each node in the submitted text", () => {
    const source = "// 😀\r\nconst é = 1;\nif (é) { await mcp.fs.read({ path: 'a' }) }";
    const outcome = analyse(source);
    const nodes = outcome.kind === "program" ? outcome.program.structure.nodes : [];
    expect(nodes.map(({ range }) => [range.line, range.column, source.slice(range.start, range.end)])).toEqual([
      [3, 0, "if (é) { await mcp.fs.read({ path: 'a' }) }"],
      [3, 15, "mcp.fs.read({ path: 'a' })"],
    ]);
  });

  test("gives nodes of the same tool distinct labels", () => {
    expect(
      labels("await mcp.fs.read({ path: 'a.txt' }); await mcp.fs.read({ path: args.p }); await mcp.fs.list({})"),
    ).toEqual(["fs:read (a.txt)", "fs:read (p)", "fs:list"]);
    expect(labels("await mcp.a.b({});\nawait mcp.a.b({}); await mcp.a.b({})")).toEqual([
      "a:b, line 1",
      "a:b, line 2, n2",
      "a:b, line 2, n3",
    ]);
  });

  test("leads a throw to what follows its handler, also where the try has no calls", () => {
    const outcome = analyse("try { if (args.a) throw new Error('x') } catch {}\nawait mcp.a.b({})");
    const edges = outcome.kind === "program" ? outcome.program.structure.edges : [];
    expect(edges.map((edge) => [edge.from, edge.to, edge.type === "conditional" ? edge.outcome : edge.type])).toEqual(
      expect.arrayContaining([
        ["d1", "n1", "true"],
        ["d1", "n1", "false"],
      ]),
    );
  });

  test("leaves values that look like secrets out of labels", () => {
    expect(labels("await mcp.a.b({ apiKey: 'sk-123', password: 'x' })")).toEqual(["a:b"]);
  });

  test("finds each call once, whichever way the program reaches the tool", () => {
    const outcome = analyse("const f = () => mcp.a.b({}); f(); [1].map(f); new Promise((r) => r(f()))");
    expect(outcome).toMatchObject({ program: { tools: ["a:b"], structure: { nodes: [{ id: "n1" }, { id: "l1" }] } } });
  });

  test.each([
    ["const x = 1;\nconst y = ;", 2, 10, "const y = ;"],
    ["return 1 }); evil(", 1, 9, "return 1 }); evil("],
    ["}} async () => {{", 1, 0, "}} async () => {{"],
    ["a\n\n  b c", 3, 3, "  b c"],
    ["'use strict'; with (a) {}", 1, 14, "'use strict'; with (a) {}"],
    ["`${`", 1, 3, "`${`"],
    ["/* never closed", 1, 0, "/* never closed"],
    ["break", 1, 0, "break"],
    ["let x; namespace N { export const a = 1 }", 1, 7, "let x; namespace N { export const a = 1 }"],
    ["@dec class A {}", 1, 0, "@dec class A {}"],
  ])("refuses %j and points at it", (source, line, column, excerpt) => {
    expect(analyse(source)).toMatchObject({ kind: "syntax_error", problem: { line, column, excerpt } });
  });

  test.each(["export const a = 1", "import 'x'", "await import('x')", "return import.meta.url"])(
    "hints at the replacement of %s",
    (source) => {
      expect(analyse(source)).toMatchObject({
        problem: { hint: expect.stringMatching(/mcp\.<server>|body of an async function/) },
      });
    },
  );

  test("accepts a property whose name has the reserved prefix", () => {
    const outcome = analyse("const o = { __pml: 1 }; return o.__pml");
    expect(outcome.kind).toBe("program");
  });
});

function step(index: number): string {
  const read = `const r${index} = await mcp.fs.read({ path: String(r${index - 1}) });`;
  return `${read}\nif (r${index}.ok) {\n  out.push(r${index});\n  await mcp.a.b({ out });\n}\n`;
}

describe("analyseProgram, given a huge or deeply nested program", () => {
  const MANY = 20_000;
  test.each([
    ["brackets", "(".repeat(MANY) + ")".repeat(MANY)],
    ["arrays", `x = ${"[".repeat(MANY)}${"]".repeat(MANY)}`],
    ["objects", `x = ${"{a:".repeat(MANY)}1${"}".repeat(MANY)}`],
    ["blocks", "{".repeat(MANY) + "}".repeat(MANY)],
    ["functions", "function f(){".repeat(MANY) + "}".repeat(MANY)],
    ["templates", "`${".repeat(MANY) + "1" + "}`".repeat(MANY)],
    ["arrow functions", `${"a=>".repeat(MANY)}1`],
    ["conditions", `${"if(a)".repeat(MANY)}b`],
    ["alternatives", `${"if(a)b;else ".repeat(MANY)}c`],
    ["alternatives that hide in loops", `${"if(a)do if(a)do b;while(c);else ".repeat(MANY)}c`],
    ["conditions behind commas", `${"if(a)".repeat(150)}x,(function(){`.repeat(MANY / 100)],
    ["labels", `${"a:".repeat(MANY)}b`],
    ["prefixes", `x = ${"!".repeat(MANY)}a`],
    ["prefixes on lines", `x = ${"typeof\n".repeat(MANY)}a`],
    ["ternaries", `x = ${"a?b:".repeat(MANY)}c`],
    ["assignments", `${"a=".repeat(MANY)}b`],
    ["type arguments", `let x: ${"A<B,keyof ".repeat(MANY)}C${">".repeat(MANY)}`],
    ["types", `type X = ${"A extends B ? C : ".repeat(MANY)}D`],
    ["escaped names", "a=>\\u{61}b=>".repeat(MANY)],
    ["patterns after blocks", `{}/a// ${"(".repeat(MANY)}`],
    ["errors on one line", "try{a}".repeat(MANY)],
  ])("refuses %s before they overrun the parser", (_, source) => {
    expect(analyse(source)).toMatchObject({
      kind: "syntax_error",
      problem: { message: /too|can be a division|Unexpected/ },
    });
  });

  test.each([
    ["sums", `return ${"a + ".repeat(3000)}1`],
    ["chains", `return a${".b(1)".repeat(1000)}`],
    ["links", `return [args${".b".repeat(2500)}, (await mcp.a.b({}))${".b".repeat(500)}]`],
    ["alternatives", `${"if (a) { b = 1 } else ".repeat(500)}{ c = 1 }`],
    ["long lists", `return [${"1,".repeat(50_000)}]`.replaceAll("1,1,1,1,", "1,1,1,1,\n")],
    [
      "many variables",
      Array.from({ length: 20_000 }, (__, index) => `let v${index} = v${index - 1}`)
        .join("\n")
        .replace("v-1", "0"),
    ],
    ["many uses", `let v = 0; ${"v;\n".repeat(100_000)}`],
    ["no semicolons", "const f = (x) => x ? !x : -x\nf(1)\n".replace("const f", "var f").repeat(3000)],
  ])("analyses %s", (_, source) => {
    expect(analyse(source)).toMatchObject({ kind: "program" });
  });

  test("refuses calls that are nested too deeply", () => {
    const helpers = Array.from({ length: 2000 }, (_, index) => `const f${index} = () => f${index + 1}();`);
    const outcome = analyse(`${helpers.join("\n")}\nconst f2000 = () => mcp.a.b({});\nreturn f0()`);
    expect(outcome).toMatchObject({ kind: "syntax_error", problem: { message: /nested too deeply/ } });
  });

  test("finds one node per call in a program of 10,000 lines", () => {
    const source = `const out = []; const r0 = 0;\n${Array.from({ length: 2000 }, (_, index) => step(index + 1)).join("")}`;
    const outcome = analyse(source);
    const structure = outcome.kind === "program" ? outcome.program.structure : undefined;
    expect(structure?.nodes.length).toBe(6000);
    // Each call reads every earlier one; MAX_SOURCES keeps the number of edges proportional to the calls.
    expect(structure?.edges.length).toBeLessThan(6000 * 100);
  });
});
