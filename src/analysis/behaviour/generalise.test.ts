import { globSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import type { JsonSchema, JsonValue } from "../../base/json.ts";
import { analyseProgram } from "../analyse-program.ts";
import type { ToolCatalogue, ToolFacts } from "../structure.ts";
import type { BehaviourFacts, LiftedParameter } from "./behaviour-facts.ts";
import { generateProgram } from "../../../test/support/program-generator.ts";
import { bindArguments } from "./bind-arguments.ts";
import { writeGeneralised } from "./generalise.ts";

const ORDER_SCHEMA: JsonSchema = {
  type: "object",
  properties: { order_id: { type: "string", pattern: "^#W" }, limit: { type: "integer" } },
};
const catalogue: ToolCatalogue = {
  findTool: (server, tool): ToolFacts => ({
    id: `${server}:${tool}`,
    ...(tool === "get_order" && { inputSchema: ORDER_SCHEMA }),
  }),
};

interface GeneralisedProgram {
  readonly code: string;
  readonly parameters: readonly LiftedParameter[];
}

function behaviourOf(program: string): BehaviourFacts | undefined {
  const outcome = analyseProgram(program, catalogue);
  return outcome.kind === "program" ? outcome.program.behaviour : undefined;
}

function lift(program: string, isDefault: (parameter: LiftedParameter) => boolean = () => false): GeneralisedProgram {
  const { lifted } = behaviourOf(program) ?? {};
  if (lifted === undefined) throw new Error(`no behaviour: ${program}`);
  return { code: writeGeneralised(program, lifted, isDefault), parameters: lifted };
}

function valuesOf({ parameters }: GeneralisedProgram): Record<string, JsonValue> {
  return Object.fromEntries(parameters.map(({ name, value }) => [name, value]));
}

test("a literal becomes a parameter with the tool's name and schema", () => {
  const found = lift(`return await mcp.shop.get_order({ order_id: "#W1", limit: 5 });`);
  expect(found.code).toBe(`return await mcp.shop.get_order({ order_id: args.order_id, limit: args.limit });`);
  expect(found.parameters.map(({ ranges: _ranges, ...rest }) => rest)).toEqual([
    {
      name: "order_id",
      schema: { type: "string", pattern: "^#W" },
      value: "#W1",
      uses: [{ target: "shop:get_order", path: ["order_id"] }],
    },
    { name: "limit", schema: { type: "integer" }, value: 5, uses: [{ target: "shop:get_order", path: ["limit"] }] },
  ]);
});

test.each<[string, string, string, Record<string, JsonValue>]>([
  [
    "a constant is lifted where it is declared",
    `const id = "#W1"; await mcp.s.a({ id }); await mcp.s.b({ key: id });`,
    `const id = args.id; await mcp.s.a({ id }); await mcp.s.b({ key: id });`,
    { id: "#W1" },
  ],
  [
    "one value under one name is one parameter",
    `await mcp.s.a({ id: "x1" }); await mcp.s.b({ id: "x1" });`,
    `await mcp.s.a({ id: args.id }); await mcp.s.b({ id: args.id });`,
    { id: "x1" },
  ],
  [
    "another value gets the verb of its tool",
    `await mcp.s.get_user({ id: "x1" }); await mcp.s.cancel_order({ id: "y2" });`,
    `await mcp.s.get_user({ id: args.id }); await mcp.s.cancel_order({ id: args.cancel_id });`,
    { id: "x1", cancel_id: "y2" },
  ],
  [
    "then a number",
    `await mcp.s.get({ id: "a" }); await mcp.t.get({ id: "b" }); await mcp.u.get({ id: "c" });`,
    `await mcp.s.get({ id: args.id }); await mcp.t.get({ id: args.get_id }); await mcp.u.get({ id: args.get_id_2 });`,
    { id: "a", get_id: "b", get_id_2: "c" },
  ],
  [
    "a list that is run through is one parameter",
    `for (const id of ["a", "b"]) await mcp.s.get({ order_id: id });`,
    `for (const id of args.order_ids) await mcp.s.get({ order_id: id });`,
    { order_ids: ["a", "b"] },
  ],
  [
    "a list in an argument is one parameter",
    `await mcp.s.get({ ids: ["a", "b"] });`,
    `await mcp.s.get({ ids: args.ids });`,
    { ids: ["a", "b"] },
  ],
  [
    "objects are lifted key by key",
    `await mcp.s.find({ filter: { state: "open", "max-age": 3 } });`,
    `await mcp.s.find({ filter: { state: args.state, "max-age": args.max_age } });`,
    { state: "open", max_age: 3 },
  ],
  [
    "a list of objects is one parameter",
    `const lines = [{ id: "a", n: 1 }, { id: "b", n: 2 }]; for (const { id, n } of lines) await mcp.s.add({ id, count: n });`,
    `const lines = args.lines; for (const { id, n } of lines) await mcp.s.add({ id, count: n });`,
    {
      lines: [
        { id: "a", n: 1 },
        { id: "b", n: 2 },
      ],
    },
  ],
  [
    "a value in a text is lifted, the text is not",
    `const id = "17"; await mcp.fs.read({ path: \`/orders/\${id}.json\` });`,
    `const id = args.path; await mcp.fs.read({ path: \`/orders/\${id}.json\` });`,
    { path: "17" },
  ],
  [
    "a repeated value is the same parameter",
    `const o = await mcp.s.list({}); const x = o.find((e) => e.id === "#W1"); await mcp.s.touch({ id: "#W1", key: x.key });`,
    `const o = await mcp.s.list({}); const x = o.find((e) => e.id === args.id); await mcp.s.touch({ id: args.id, key: x.key });`,
    { id: "#W1" },
  ],
  [
    "a date that is converted is a value",
    `await mcp.s.at({ when: new Date("2026-01-01").toISOString() });`,
    `await mcp.s.at({ when: new Date(args.when).toISOString() });`,
    { when: "2026-01-01" },
  ],
  [
    "numbers below zero, booleans and null",
    `await mcp.s.set({ n: -5, on: true, at: null });`,
    `await mcp.s.set({ n: args.n, on: args.on, at: args.at });`,
    { n: -5, on: true, at: null },
  ],
  [
    "a condition keeps its literal",
    `const o = await mcp.s.get({ id: "q17" }); if (o.state === "open") await mcp.s.close({ id: "q17" });`,
    `const o = await mcp.s.get({ id: args.id }); if (o.state === "open") await mcp.s.close({ id: args.id });`,
    { id: "q17" },
  ],
  [
    "a variable called args is left alone",
    `const args = { a: "x" }; await mcp.s.a({ id: args.a });`,
    `const args = { a: "x" }; await mcp.s.a({ id: args.a });`,
    {},
  ],
])("%s", (_, program, code, values) => {
  const found = lift(program);
  expect(found.code).toBe(code);
  expect(valuesOf(found)).toEqual(values);
});

test("names of parameters that exist are left to them", () => {
  expect(lift(`await mcp.s.get({ id: "a1", of: args.id });`).code).toBe(
    `await mcp.s.get({ id: args.get_id, of: args.id });`,
  );
});

function keep(program: string): string {
  return lift(program, () => true).code;
}

test("a default keeps its literal, in parentheses where it needs them", () => {
  expect(keep(`await mcp.s.get({ path: "/a" });`)).toBe(`await mcp.s.get({ path: args.path ?? "/a" });`);
  expect(keep(`await mcp.s.get({ path: "/a".trim() });`)).toBe(
    `await mcp.s.get({ path: (args.path ?? "/a").trim() });`,
  );
});

interface Recorded {
  readonly calls: readonly unknown[];
  readonly outcome: unknown;
}

const MOST_TURNS = 200;

/** Runs a program with tools that answer from their arguments alone. */
async function record(code: string, args: Record<string, JsonValue>): Promise<Recorded> {
  const calls: unknown[] = [];
  let turns = 0;
  const endless = (): string => {
    turns += 1;
    if (turns > MOST_TURNS) throw new Error("endless");
    return "";
  };
  const tool = (server: string, name: string) => async (input: unknown) => {
    endless();
    calls.push([server, name, structuredClone(input)]);
    const id = JSON.stringify(input);
    return {
      id,
      ok: id.length % 2 === 0,
      count: id.length,
      items: [
        { id: `${id}1`, price: 2 },
        { id: `${id}2`, price: 3 },
      ],
    };
  };
  const server = (name: string) => new Proxy({}, { get: (_, key) => tool(name, String(key)) });
  const mcp = new Proxy({}, { get: (_, key) => server(String(key)) });
  const capabilities = new Proxy({}, { get: (_, key) => tool("capability", String(key)) });
  const analysed = analyseProgram(code, catalogue);
  if (analysed.kind !== "program") throw new Error(analysed.problem.message);
  const marks = {
    call: (_node: string, _path: string, callee: unknown) => callee,
    decide: (_node: string, _path: string, value: unknown) => value,
    nullish: (_node: string, _path: string, value: unknown) => value,
    took: () => undefined,
    loop: () => endless(),
  };
  const silent = { log: () => undefined, error: () => undefined, warn: () => undefined, info: () => undefined };
  // oxlint-disable-next-line typescript/no-implied-eval -- the programs are those of the corpus
  const make = new Function("mcp", "capabilities", "console", "sleep", `return ${analysed.program.instrumented.code}`);
  const run = make(mcp, capabilities, silent, async () => undefined) as (
    args: unknown,
    marks: unknown,
  ) => Promise<unknown>;
  const outcome = await run(args, marks).catch((error: unknown) => String(error));
  return { calls, outcome };
}

const corpus = globSync("test/structure-corpus/*.program").toSorted();

test("every program of the corpus does the same when its literals are arguments", async () => {
  expect(corpus.length).toBeGreaterThan(50);
  let generalised = 0;
  for (const file of corpus) {
    const program = readFileSync(file, "utf8");
    const behaviour = behaviourOf(program);
    if (behaviour === undefined || behaviour.lifted.length === 0) continue;
    generalised += 1;
    const expected = await record(program, {});
    for (const isDefault of [false, true]) {
      const found = lift(program, () => isDefault);
      expect([file, behaviourOf(found.code)?.key]).toEqual([file, behaviour.key]);
      expect([file, await record(found.code, isDefault ? {} : valuesOf(found))]).toEqual([file, expected]);
    }
  }
  expect(generalised).toBeGreaterThan(20);
});

const GENERATED = 5_000;
const TOOLS = ["shop:get_order", "shop:cancel", "mail:send", "files:read-all"];

test("nearly every generated program does the same when its literals are arguments", async () => {
  let generalised = 0;
  let same = 0;
  let bound = 0;
  for (let seed = 1; seed <= GENERATED; seed += 1) {
    const program = generateProgram({
      seed,
      tools: TOOLS,
      size: 1 + (seed % 3),
      types: seed % 3 === 0,
      bare: seed % 7 === 0,
    });
    const behaviour = behaviourOf(program);
    if (behaviour === undefined || behaviour.lifted.length === 0) continue;
    generalised += 1;
    const found = lift(program, ({ name }) => name.length % 2 === 0);
    const values = valuesOf(found);
    same += isDeepStrictEqual(await record(found.code, values), await record(program, {})) ? 1 : 0;
    const args = bindArguments(behaviourOf(found.code)?.calls ?? [], { calls: behaviour.calls, args: {} });
    bound += isDeepStrictEqual(args, values) ? 1 : 0;
  }
  expect(generalised).toBeGreaterThan(GENERATED / 2);
  // The others stay as they were written: replay decides.
  expect(same / generalised).toBeGreaterThan(0.98);
  // Binding is a proposal: a parameter that no call gets, or one list in two loops, is not found.
  expect(bound / generalised).toBeGreaterThan(0.5);
}, 240_000);
