import { stripTypeScriptTypes } from "node:module";
import { describe, expect, test } from "vitest";
import { createRandom, generateProgram } from "../../test/support/program-generator.ts";
import { type RunTool, runInstrumented, runPlain } from "../../test/support/run-instrumented.ts";
import { analyseProgram } from "./analyse-program.ts";
import type { AnalysedProgram } from "./structure.ts";

const nothingKnown = { findTool: () => undefined };

function analyse(source: string): AnalysedProgram {
  const outcome = analyseProgram(source, nothingKnown);
  if (outcome.kind !== "program") throw new Error(`${outcome.problem.message}\n${source}`);
  return outcome.program;
}

/** Derives the answer from the call alone; some calls fail. */
const answer: RunTool = async (server, tool, args) => {
  const text = `${server}:${tool} ${JSON.stringify(args)}`;
  const random = createRandom([...text].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7));
  await Promise.resolve();
  if (random() < 0.1) throw new Error(`${server}:${tool} failed`);
  return [null, 0, "a text", { ok: true }, [1, 2, 3]][Math.floor(random() * 5)];
};

async function compare(source: string, args: unknown = {}): Promise<Awaited<ReturnType<typeof runInstrumented>>> {
  const program = analyse(source);
  const plain = await runPlain(stripTypeScriptTypes(`async (args) => {"use strict";{${source}\n}}`), args, answer);
  const observed = await runInstrumented(program.instrumented, args, answer);
  expect({ outcome: observed.outcome, calls: observed.calls }, source).toEqual(plain);
  return observed;
}

describe("an instrumented program", () => {
  test("behaves like the program and reports the position of each call", async () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const tools = ["fs:read", "my-server:do it", "a:b"];
      const source = generateProgram({ seed, tools, types: seed % 2 === 0, bare: seed % 3 === 0 });
      const { structure } = analyse(source);
      const observed = await compare(source);
      const nodes = new Map(structure.nodes.map((node) => [node.id, node]));
      expect(observed.marked.length).toBe(observed.calls.length);
      for (const { node, tool } of observed.marked) {
        expect(nodes.get(node), source).toMatchObject({ type: "task" });
        expect(nodes.get(node)).toHaveProperty("tool", expect.stringContaining(tool));
      }
      for (const { node, outcome } of observed.decisions) {
        expect(["decision", "try"], source).toContain(nodes.get(node)?.type);
        expect(outcome).toMatch(/^(?:true|false|case [012]|default|catch)$/);
      }
    }
  });

  test.each([
    ["loops with continue", "for (let i = 0; i < 3; i++) { if (i === 1) continue; await mcp.a.b({ i }); }"],
    ["bodies without braces", "for (const i of [1, 2]) if (i > 1) await mcp.a.b({ i }); else await mcp.c.d({ i })"],
    ["do without braces", "let i = 0; do await mcp.a.b({ i }); while (++i < 2)"],
    ["empty bodies", "let i = 0; while (i++ < 2 && (await mcp.a.b({ i })) !== undefined);"],
    [
      "closures in a for header",
      "const fs = []; for (let i = 0, f = () => i; i < 2; i++) fs.push(() => mcp.a.b({ i, j: f() })); for (const f of fs) await f()",
    ],
    [
      "labels",
      "a: for (const i of [1, 2]) { b: for (const j of [1, 2]) { if (j === 2) continue a; await mcp.a.b({ i, j }); } }",
    ],
    ["labelled blocks", "x: { if (args.n) break x; await mcp.a.b({}) } await mcp.c.d({})"],
    [
      "labelled switches",
      "x: switch (args.n) { case undefined: await mcp.a.b({}); if (true) break x; default: await mcp.c.d({}) }",
    ],
    [
      "switches in a loop",
      "for (const i of [1, 2, 3]) switch (i) { case 1: continue; case 2: await mcp.a.b({ i }); default: await mcp.c.d({ i }) }",
    ],
    [
      "arrow functions that give objects",
      "return await Promise.all([1, 2].map(async (i) => ({ i, r: await mcp.a.b({ i }) })))",
    ],
    ["arrow functions in parentheses", "const f = (i) => ((mcp.a.b({ i }))); return await f(1)"],
    ["arrow functions with commas", "const f = async (i) => (i++, await mcp.a.b({ i })); return await f(1)"],
    ["a list as a test", "if ((args.x, !args.y)) await mcp.a.b({}); else await mcp.c.d({})"],
    [
      "generators",
      "function* g() { const x = yield mcp.a.b({}); if (x) yield mcp.c.d({}); } for (const p of g()) await p",
    ],
    [
      "async generators",
      "async function* g(n = 2) { while (n-- > 0) yield await mcp.a.b({ n }); } for await (const p of g()) await mcp.c.d({ p })",
    ],
    [
      "classes",
      "class A { #p = mcp.a.b({ at: 'field' }); static s = 1; constructor() { this.q = mcp.c.d({}); } async m() { return [await this.#p, await this.q]; } get g() { return mcp.a.b({ at: 'getter' }); } } const a = new A(); return [await a.m(), await a.g]",
    ],
    [
      "derived classes",
      "class A {} class B extends A { constructor() { super(); this.p = mcp.a.b({}); } } return await new B().p",
    ],
    [
      "object methods",
      "const o = { async m() { return await mcp.a.b({ t: typeof this.m }); }, get x() { return mcp.c.d({}); } }; return [await o.m(), await o.x]",
    ],
    [
      "defaults in patterns",
      "const { a = await mcp.a.b({}) } = {}; const f = async ({ b = mcp.c.d({}) } = {}) => await b; return [a, await f()]",
    ],
    [
      "lines without semicolons",
      "const x = await mcp.a.b({})\n;[1, 2].forEach((i) => mcp.c.d({ i }))\nconst y = x\nawait mcp.a.b({ y })",
    ],
    ["directives in functions", "async function f() { 'use strict'\n return await mcp.a.b({}) }\nreturn await f()"],
    ["directives of the program", "'use strict'\nreturn await mcp.a.b({})"],
    ["optional chains", "return [await mcp?.a?.b({}), await mcp.a.b?.({}), args?.x?.y(await 1), await (mcp?.a).b({})]"],
    ["bound tools", "const f = mcp.a.b.bind(null); return [await f({ x: 1 }), await mcp.a.b.call(null, { x: 2 })]"],
    [
      "logical assignment",
      "let a = null; a ??= await mcp.a.b({}); let b = 1; b &&= await mcp.c.d({}); a ||= await mcp.c.d({ n: 1 }); return [a, b]",
    ],
    [
      "nested ternaries",
      "return args.a ? 1 : args.b ? 2 : args.n === undefined ? await mcp.a.b({}) : await mcp.c.d({})",
    ],
    [
      "catch with a pattern",
      "try { await mcp.a.b({}); throw { code: 1 } } catch ({ code }) { await mcp.c.d({ code }) } finally { await mcp.a.b({ at: 'end' }) }",
    ],
    [
      "returns through finally",
      "const f = async () => { try { return await mcp.a.b({}) } finally { await mcp.c.d({}) } }; return await f()",
    ],
    [
      "callbacks of callbacks",
      "return await Promise.all([[1], [2, 3]].map((l) => Promise.all(l.map(async (i) => mcp.a.b({ i })))))",
    ],
    ["then and catch", "return await mcp.a.b({}).then((r) => mcp.c.d({ r })).catch((e) => mcp.a.b({ e: e.message }))"],
    ["strings with strange ends", "switch ('a\\u2028b\"') { case 'a\\u2028b\"': await mcp.a.b({}) }"],
    [
      "comments in odd places",
      "if /* a */ (/* b */ !args.x /* c */) /* d */ await /* e */ mcp /* f */ . a.b /* g */ ({ /* h */ }) // i",
    ],
    ["new with a tool", "const p = new (class { constructor() { return [mcp.a.b({})] } })(); return await p[0]"],
    ["implicit names that are declared", "let path = 'x'; { let path = 'y'; await mcp.a.b({ path }) } return path"],
  ])("behaves like the program with %s", async (_, source) => {
    const { calls, marked } = await compare(source);
    expect(calls.length).toBeGreaterThan(0);
    expect(marked.length).toBe(calls.length);
  });

  test("reads undeclared names from args", async () => {
    const { instrumented } = analyse(
      "total = 0; for (const n of numbers) total += n; await mcp.a.b({ total, path }); return total",
    );
    const { outcome, calls } = await runInstrumented(instrumented, { numbers: [1, 2], path: "p" }, answer);
    expect(outcome).toBe("returned 3");
    expect(calls).toEqual(['a:b {"total":3,"path":"p"}']);
  });

  test("lets a program declare args itself", async () => {
    const { outcome } = await compare("const args = { a: 1 }; return [args.a, await mcp.a.b({})].length");
    expect(outcome).toBe("returned 2");
  });

  test("gives each iteration and each invocation its own path", async () => {
    const { marked } = await compare(
      "const f = async (x) => { await mcp.a.b({ x }) }; await Promise.all([1, 2].map(async (i) => { for (const j of [1, 2]) await mcp.c.d({ i, j }) })); await f(1); await f(2)",
    );
    const paths = marked.map(({ node, path }) => `${node} ${path}`).toSorted();
    expect(paths).toEqual(["n1 h1:0", "n1 h1:1", "n2 l1:0/l2:0", "n2 l1:0/l2:1", "n2 l1:1/l2:0", "n2 l1:1/l2:1"]);
  });

  test.each([
    ["if (args.a) await mcp.a.b({}); else await mcp.c.d({})", ["d1 false"]],
    ["args.a || (await mcp.a.b({}))", ["d1 false"]],
    ["args.a ?? (await mcp.a.b({}))", ["d1 true"]],
    ["(args.a ?? 1) && (await mcp.a.b({}))", ["d1 true"]],
    ["let x = args.a; x ??= await mcp.a.b({})", ["d1 true"]],
    ['switch ("b") { case "a": case "b": case "c": await mcp.a.b({}); default: await mcp.c.d({}) }', ['d1 case "b"']],
    ['switch ("z") { case "a": await mcp.a.b({}) }', ["d1 default"]],
    ["try { await mcp.a.b({}); throw 1 } catch { await mcp.c.d({}) }", ["t1 catch"]],
    ["if (!args.path) return 1; await mcp.a.b({})", ["d1 true"]],
    ["if (args.x) console.log(1); await mcp.a.b({})", []],
  ])("reports the outcomes in %s", async (source, expected) => {
    const { decisions } = await runInstrumented(analyse(source).instrumented, {}, () => 1);
    expect(decisions.map(({ node, outcome }) => `${node} ${outcome}`)).toEqual(expected);
  });

  test("keeps the lines of the program and maps each position back", () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const source = generateProgram({ seed, tools: ["fs:read", "a:b"], types: seed % 2 === 0, bare: true });
      const { instrumented } = analyse(source);
      const lines = instrumented.code.split("\n");
      expect(lines.length).toBe(source.split("\n").length + 1);
      source.split("\n").forEach((text, index) => {
        for (const { 0: word } of text.matchAll(/\b(?:helper|alias|mark|r|all)\d+\b/g)) {
          const pattern = new RegExp(`\\b${word}\\b`);
          const position = instrumented.originalPosition(index + 1, lines[index]?.search(pattern) ?? -1);
          expect(position, text).toEqual({ line: index + 1, column: text.search(pattern) });
        }
      });
    }
  });

  test("maps positions in the first line, in inserted text and behind the end", () => {
    const { instrumented } = analyse("return (args.a as string) + (await mcp.a.b({}));\nthrow new Error('x')");
    const [first = ""] = instrumented.code.split("\n");
    const at = (text: string): number => instrumented.originalPosition(1, first.indexOf(text)).column;
    expect(at("return")).toBe(0);
    expect(at("+ (await")).toBe(26);
    expect(at("__pml.call")).toBe(35);
    expect(at("mcp.a.b")).toBe(35);
    expect(at("({}))")).toBe(42);
    expect(instrumented.originalPosition(2, 6)).toEqual({ line: 2, column: 6 });
    expect(instrumented.originalPosition(99, 0)).toEqual({ line: 2, column: 20 });
  });
});
