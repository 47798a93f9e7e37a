import { expect, test } from "vitest";
import type { JsonObject } from "../../base/json.ts";
import { analyseProgram } from "../analyse-program.ts";
import type { BehaviourFacts } from "./behaviour-facts.ts";
import { bindArguments } from "./bind-arguments.ts";

function callsOf(program: string): BehaviourFacts["calls"] {
  const outcome = analyseProgram(program, { findTool: () => undefined });
  if (outcome.kind !== "program" || outcome.program.behaviour === undefined) throw new Error(`unknown: ${program}`);
  return outcome.program.behaviour.calls;
}

function bind(stored: string, run: string, args: JsonObject = {}): JsonObject | undefined {
  return bindArguments(callsOf(stored), { calls: callsOf(run), args });
}

const ONE = `return await mcp.shop.get({ id: args.id, kind: args.kind });`;
const LOOP = `for (const line of args.lines) await mcp.shop.add({ id: line.id, count: line.n });`;

test.each<[string, string, string, JsonObject, JsonObject | undefined]>([
  [
    "literals by the name of the argument",
    ONE,
    `await mcp.shop.get({ kind: "a", id: "1" })`,
    {},
    { id: "1", kind: "a" },
  ],
  [
    "parameters of another name",
    ONE,
    `await mcp.shop.get({ id: args.key, kind: "a" })`,
    { key: "1" },
    { key: "1", id: "1", kind: "a" },
  ],
  [
    "two values for one parameter",
    `await mcp.s.a({ id: args.id }); await mcp.s.b({ id: args.id });`,
    `await mcp.s.a({ id: "1" }); await mcp.s.b({ id: "2" });`,
    {},
    undefined,
  ],
  [
    "a list of objects",
    LOOP,
    `for (const { id, q } of [{ id: "1", q: 2 }, { id: "3", q: 4 }]) await mcp.shop.add({ id, count: q });`,
    {},
    {
      lines: [
        { id: "1", n: 2 },
        { id: "3", n: 4 },
      ],
    },
  ],
  [
    "a loop that is written out",
    LOOP,
    `await mcp.shop.add({ id: "1", count: 2 }); await mcp.shop.add({ id: "3", count: 4 });`,
    {},
    {
      lines: [
        { id: "1", n: 2 },
        { id: "3", n: 4 },
      ],
    },
  ],
  ["a list of one", ONE, `for (const id of ["7"]) await mcp.shop.get({ id, kind: "b" });`, {}, { id: "7", kind: "b" }],
  [
    "a list of two for one value",
    ONE,
    `for (const id of ["7", "8"]) await mcp.shop.get({ id, kind: "b" });`,
    {},
    { kind: "b" },
  ],
  [
    "more calls than the program makes",
    ONE,
    `await mcp.shop.get({ id: "1", kind: "a" }); await mcp.shop.get({ id: "2", kind: "a" });`,
    {},
    undefined,
  ],
  ["another tool", ONE, `await mcp.shop.find({ id: "1", kind: "a" });`, {}, undefined],
  [
    "a parameter of a condition",
    `if (args.on) await mcp.s.a({ id: args.id });`,
    `if (args.on) await mcp.s.a({ id: "1" });`,
    { on: true },
    { on: true, id: "1" },
  ],
  [
    "a value inside of a text",
    "await mcp.fs.read({ path: `/o/${args.path}.json` });",
    'const id = "17"; await mcp.fs.read({ path: "/o/" + id + ".json" });',
    {},
    { path: "17" },
  ],
  [
    "nested members",
    `await mcp.s.a({ q: args.filter.state });`,
    `await mcp.s.a({ q: "open" });`,
    {},
    { filter: { state: "open" } },
  ],
])("%s", (_title, stored, run, args, expected) => {
  expect(bind(stored, run, args)).toEqual(expected);
});
