import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { runInstrumented } from "../../test/support/run-instrumented.ts";
import { packageRoot } from "../base/package-info.ts";
import { analyseProgram } from "./analyse-program.ts";
import { parseProgram } from "./parse-program.ts";
import { TypeStripper } from "./strip-types.ts";
import { traverse } from "./syntax-tree.ts";
import { TextEdits } from "./text-edits.ts";

function strip(source: string): string {
  const outcome = parseProgram(source);
  if (outcome.kind !== "parsed") throw new Error(`${outcome.problem.message} in\n${source}`);
  const { text, comments, root } = outcome.program;
  const edits = new TextEdits();
  const stripper = new TypeStripper(text, comments, edits);
  traverse(root, [stripper]);
  stripper.finish();
  return edits.apply(text).text;
}

/** The tree without positions and empty statements, which replace type declarations. */
function toTree(code: string): string {
  const { program, errors } = parseSync("program.js", code, { lang: "js" });
  if (errors[0] !== undefined) throw new Error(`${errors[0].message} in\n${code}`);
  return JSON.stringify(program, (key, value: unknown) => {
    if (key === "start" || key === "end") return undefined;
    if (typeof value === "bigint") return `${value}n`;
    return Array.isArray(value)
      ? value.filter((each) => (each as { type?: string } | null)?.type !== "EmptyStatement")
      : value;
  });
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/** Turns a module into the body of a function. */
function toBody(module: string): string {
  return module
    .replace(/^(?:import|export (?:type )?[{*])[^;]*;/gm, blank)
    .replace(/^declare module [^]*?^\}/gm, blank)
    .replace(/^export (?:default )?/gm, "");
}

async function run(source: string): Promise<unknown> {
  const outcome = analyseProgram(source, { findTool: () => undefined });
  if (outcome.kind !== "program") throw new Error(outcome.problem.message);
  const { outcome: result } = await runInstrumented(outcome.program.instrumented, {}, () => 1);
  return JSON.parse(result.replace(/^returned /, ""));
}

describe("TypeStripper", () => {
  const folder = join(packageRoot, "src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /(?<!\.d)\.ts$/.test(file));

  test("leaves this project's own sources as Node's type stripping does", () => {
    expect(files.length).toBeGreaterThan(100);
    for (const file of files) {
      const source = toBody(readFileSync(join(folder, file), "utf8"));
      const stripped = strip(source);
      expect(toTree(stripped), file).toBe(
        toTree(stripTypeScriptTypes(`async (args, __pml) => {"use strict";{${source}\n}}`)),
      );
      expect(stripped.split("\n").length).toBe(source.split("\n").length + 1);
    }
  });

  test.each([
    [
      "a type at the end of a line",
      "let n = 0; const f = () => n++; const x = f as any\n(f)(); return [typeof x, n]",
      ["function", 1],
    ],
    ["a declaration without a value", "let x: number\n[1].forEach((i) => { x = i }); return x", 1],
    ["an interface between lines", "const f = () => 1\ninterface I { a: 1 }\n(f)(); return 2", 2],
    [
      "a return type over several lines",
      "const f = (a: number\n): {\n  a: number\n} => ({ a }); return f(1)",
      { a: 1 },
    ],
    ["type parameters over several lines", "const f = async <\n  T\n>(a: T) => a; return await f(1)", 1],
    ["an assertion behind return", "const x = 1; return <\n  any\n>x", 1],
    [
      "fields and modifiers",
      "class A { private a = 1\n public ['b'] = 2\n readonly c?: number\n declare d: number; e!: string; m?(): void {} protected *g() { yield 3 } }\nconst a = new A(); return [Object.keys(a), [...a['g']()]]",
      [["a", "b", "c", "e"], [3]],
    ],
    [
      "parameter properties",
      "class A { constructor(private a: number, readonly b = 2) {} }\nclass B extends A { constructor(public c: string) { super(1)\n this.c += '!' } }\nreturn new B('c')",
      { a: 1, b: 2, c: "c!" },
    ],
    [
      "an enumeration",
      "enum E { A, B = 5, C, 'd-e', default, F = C << 1, G = E.A + 10, S = 's' }\nreturn [E, E[5]]",
      [
        {
          0: "A",
          5: "B",
          6: "C",
          7: "d-e",
          12: "F",
          10: "G",
          A: 0,
          B: 5,
          C: 6,
          "d-e": 7,
          F: 12,
          G: 10,
          S: "s",
          8: "default",
          default: 8,
        },
        "B",
      ],
    ],
    [
      "an enumeration over lines",
      "const enum E {\n  A = 'a' as any, // one\n  /* two */ B = (1)\n}\nreturn [E.A, E.B]",
      ["a", 1],
    ],
    ["enumerations that merge", "enum E { A } enum E { B = 1 }\nreturn [E.A, E.B]", [0, 1]],
    [
      "overloads and abstract classes",
      "abstract class A { abstract a(): void; f(x: string): void; f(x: any) { return x } }\nfunction g(a: 1): void\nfunction g(this: void, a: any) { return a }\nreturn [new (class extends A { a() {} })().f(1), g(2 as never)]",
      [1, 2],
    ],
    [
      "satisfies, non-null and instantiations",
      "const f = <T,>(x: T) => x; const g = f<number>; const o = { a: 1 } satisfies object; return [g(o!.a), o?.a!]",
      [1, 1],
    ],
    ["a type named in an operator", "const type = 4, as = 2; return type / as", 2],
  ])("keeps the meaning of %s", async (_, source, expected) => {
    expect(await run(source)).toEqual(expected);
  });
});
