import type { Random } from "./random.ts";

/** One input of an adversary, for the part of the gateway that meets it. */
export type HostileInput = { readonly what: string } & (
  | { readonly kind: "program"; readonly code: string }
  | { readonly kind: "result"; readonly schema: object; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "template"; readonly template: string; readonly uri: string }
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "name"; readonly name: string; readonly pattern: string }
  | { readonly kind: "schema"; readonly schema: Readonly<Record<string, unknown>> }
);

export type HostileKind = HostileInput["kind"];

const LARGEST = 250_000;

/** Most inputs are small, some are as large as they may be. */
function sizeOf(random: Random): number {
  return Math.min(LARGEST, 2 ** random.between(3, 18));
}

function fill(unit: string, size: number): string {
  return unit.repeat(Math.max(1, Math.floor(size / unit.length)));
}

function count(size: number, each: (at: number) => string, separator = "\n"): string {
  const length = Math.max(1, Math.floor(size / (each(1_000).length + separator.length)));
  return Array.from({ length }, (_, at) => each(at)).join(separator);
}

type Make<T> = (size: number, random: Random) => T;

const programs: Readonly<Record<string, Make<string>>> = {
  "nested aliases": (size) =>
    `type A0={a:string,b:string};${count(Math.min(size, 20_000), (at) => `type A${at + 1}={a:A${at},b:A${at}};`)}declare const args:A9;return args`,
  "wide aliases": (size) =>
    `type A={${count(size / 2, (at) => `a${at}:string`)}};declare const args:{${count(size / 2, (at) => `b${at}:A`)}};return 1`,
  "recursive types": (size) => `type T={${count(size, (at) => `a${at}:T`)}};declare const args:T;return args`,
  brackets: (size, random) => {
    const [open, close] = random.pick([
      ["(", ")"],
      ["[", "]"],
      ["{", "}"],
      ["`${", "}`"],
      ["()=>", ";"],
      ["a?", ":b"],
    ] as const);
    return `return ${fill(open, size / 2)}1${fill(close, size / 2)}`;
  },
  operators: (size, random) => `return 1${fill(`${random.pick(["+", "&&", "??", ",", "."])}a`, size)}`,
  "long line": (size) => `return [${fill("1,", size)}]`,
  calls: (size) => count(size, (at) => `mcp.fs.read({ path: args.p${at} });`),
  decisions: (size) => count(size, (at) => `if (args.a${at}) await mcp.a.b();`),
  "early exits": (size) => count(size, () => "if (x) return mcp.a.b();"),
  flows: (size) =>
    `let a0 = await mcp.a.b();\n${count(size, (at) => `let a${at + 1} = [a${at}, mcp.x.y({ v: a${at} })];`)}`,
  parameters: (size) =>
    `const f = (${count(size / 2, (at) => `p${at}`, ",\n")}) => 1;\nreturn f(${count(size / 2, () => "mcp", ",\n")})`,
  functions: (size) => count(size, (at) => `function f${at}() { return f${at + 1}(mcp.a.b()); }`),
  redeclared: (size) => count(size, () => "let a;"),
  patterns: (size) => `const {${count(size, (at) => `a${at} = ${at}`, ",\n")}} = args;`,
  cases: (size) => `switch (args.x) {\n${count(size, (at) => `case ${at}: mcp.a.b(); break;`)}\n}`,
  strings: (size) => `return "${fill("\\u0041", size)}"`,
  comments: (size) => count(size, () => "/* a */ // b"),
  noise: (size, random) =>
    Array.from({ length: size / 4 }, () =>
      random.pick(["(", ")", "{", "}", "`", "/", "*", "'", "=>", "\n", "a", "1"]),
    ).join(""),
};

const results: Readonly<Record<string, Make<{ schema: object; value: Record<string, unknown> }>>> = {
  // Takes its whole time and the thread with it, so that there are few of them.
  "backtracking pattern": (size, random) => ({
    schema: { properties: { a: { pattern: random.pick(["^(a+)+$", "^(a|a)*b$", "(x+x+)+y"]) } } },
    value: { a: `${fill(random.pick(["a", "x"]), Math.min(size, 60))}!`, rest: fill("y", 100_000) },
  }),
  "huge enum": (size) => ({
    schema: { properties: { a: { enum: Array.from({ length: size / 8 }, String) } } },
    value: { a: "x", rest: fill("y", 100_000) },
  }),
  "unique items": (size) => ({
    schema: { properties: { a: { type: "array", uniqueItems: true } } },
    value: { a: Array.from({ length: Math.min(size / 10, 3_000) }, (_, at) => ({ at })), rest: fill("y", 100_000) },
  }),
  "doubling references": (size) => {
    const levels = Math.min(40, Math.floor(size / 100) + 2);
    const $defs = Object.fromEntries(
      Array.from({ length: levels }, (_, at) => [
        `d${at}`,
        { allOf: [0, 1].map(() => ({ $ref: `#/$defs/d${at + 1}` })) },
      ]),
    );
    return {
      schema: { $ref: "#/$defs/d0", $defs: { ...$defs, [`d${levels}`]: {} } },
      value: { rest: fill("y", 100_000) },
    };
  },
  "deep value": (size) => {
    let value: unknown = fill("z", 100_000);
    for (let level = 0; level < Math.min(size / 4, 400); level += 1) value = [value];
    return { schema: { type: "object" }, value: { value } };
  },
  "many rows": (size) => ({
    schema: { properties: { rows: { items: { required: ["id"] } } } },
    value: { rows: Array.from({ length: size / 10 }, (_, id) => ({ id, text: "é" })), rest: fill("y", 100_000) },
  }),
};

const templates: Readonly<Record<string, Make<{ template: string; uri: string }>>> = {
  variables: (size) => ({ template: `x:${fill("{a}a", size)}b`, uri: `x:${fill("a", size)}` }),
  braces: (size) => ({ template: fill("{", size), uri: fill("{", size) }),
  "near matches": (size) => ({ template: `{x}${fill("ab", size / 4)}c{y}`, uri: fill("ab", size) }),
};

const messages: Readonly<Record<string, Make<string>>> = {
  "deep arrays": (size) => fill("[", size),
  "deep objects": (size) => fill('{"a":', size),
  arrays: (size) => `[${fill("[],", size)}1]`,
  objects: (size) => `[${fill('{"a":1},', size)}1]`,
  keys: (size) => `{${count(size, (at) => `"k${at}":1`, ",")}}`,
  escapes: (size) => `["${fill("\\u0000", size)}"]`,
  backslashes: (size) => `["${fill("\\", size)}`,
  numbers: (size) => `[1${fill("0", size)}]`,
  "not closed": (size) => `{"a":"${fill("x", size)}`,
};

const names: Readonly<Record<string, Make<{ name: string; pattern: string }>>> = {
  stars: (size) => ({ name: `a:${fill("a", size)}`, pattern: `a:${fill("a*", Math.min(size, 2_000))}b` }),
  long: (size) => ({ name: `fs:${fill("read_", size)}`, pattern: "fs:*" }),
  separators: (size) => ({ name: fill(":", size), pattern: "*" }),
};

const schemas: Readonly<Record<string, Make<Record<string, unknown>>>> = {
  types: (size) => {
    let schema: Record<string, unknown> = { type: "string" };
    for (let level = 0; level < 8; level += 1)
      schema = { type: Array.from({ length: size / 100 }, () => "object"), properties: { a: schema } };
    return schema;
  },
  choices: (size) => ({ enum: Array.from({ length: size / 8 }, String) }),
  properties: (size) => ({
    type: "object",
    properties: Object.fromEntries(Array.from({ length: size / 20 }, (_, at) => [`p${at}`, { type: "string" }])),
  }),
};

function choose<T>(makes: Readonly<Record<string, Make<T>>>, random: Random): { what: string; made: T } {
  const [what, make] = random.pick(Object.entries(makes));
  return { what, made: make(sizeOf(random), random) };
}

const makers: Readonly<Record<HostileKind, (random: Random) => HostileInput>> = {
  program: (random) => {
    const { what, made } = choose(programs, random);
    return { kind: "program", what, code: made };
  },
  result: (random) => {
    const { "backtracking pattern": slow, ...others } = results;
    const { what, made } = choose(random.chance(1) && slow ? { "backtracking pattern": slow } : others, random);
    return { kind: "result", what, ...made };
  },
  template: (random) => {
    const { what, made } = choose(templates, random);
    return { kind: "template", what, ...made };
  },
  message: (random) => {
    const { what, made } = choose(messages, random);
    return { kind: "message", what, text: made };
  },
  name: (random) => {
    const { what, made } = choose(names, random);
    return { kind: "name", what, ...made };
  },
  schema: (random) => {
    const { what, made } = choose(schemas, random);
    return { kind: "schema", what, schema: made };
  },
};

export const HOSTILE_KINDS = Object.keys(makers) as readonly HostileKind[];

export function makeHostile(kind: HostileKind, random: Random): HostileInput {
  return makers[kind](random);
}
