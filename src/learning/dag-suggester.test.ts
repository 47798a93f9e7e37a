import { describe, expect, test } from "vitest";
import type { StaticStructure } from "../analysis/structure.ts";
import type { JsonObject } from "../base/json.ts";
import { predictRun, suggestDag } from "./dag-suggester.ts";
import { createProvidesEdges } from "./provides-edge-calculator.ts";

const text = { type: "string" };

function tool(id: string, required: string[], outputs: string[] = [], optional: string[] = []) {
  const properties = Object.fromEntries([...required, ...optional].map((name) => [name, text]));
  return {
    id,
    inputSchema: { type: "object", properties, required },
    outputSchema: { type: "object", properties: Object.fromEntries(outputs.map((name) => [name, text])) },
  };
}

const TOOLS = [
  tool("fs:read", ["path"], ["content"], ["head"]),
  tool("json:parse", ["json"], ["data"]),
  tool("http:post", ["url", "body"], ["status"]),
  tool("fs:write", ["path", "content"], []),
];
const provides = createProvidesEdges(TOOLS);

function plan(scores: Record<string, number>, given: JsonObject = {}, sure: readonly string[] = []) {
  const candidates = Object.entries(scores)
    .map(([id, score]) => ({ ...TOOLS.find((each) => each.id === id)!, score }))
    .toSorted((a, b) => b.score - a.score);
  const confidenceOf = (from: string, to: string): number => (sure.includes(`${from} ${to}`) ? 0.9 : 0.3);
  return suggestDag({ candidates, provides, confidenceOf, given });
}

describe("a suggested plan", () => {
  test("puts the best tool's provider before it, and lists missing arguments", () => {
    const suggested = plan({ "http:post": 0.9, "fs:read": 0.5 });
    expect(suggested?.nodes).toEqual([
      { id: "t1", tool: "fs:read", arguments: { path: { type: "parameter", parameterName: "path" } } },
      {
        id: "t2",
        tool: "http:post",
        arguments: {
          url: { type: "parameter", parameterName: "url" },
          body: { type: "reference", expression: "t1.content", nodes: ["t1"] },
        },
      },
    ]);
    expect(suggested?.missing.map(({ node, parameter }) => `${node} ${parameter}`)).toEqual(["t1 path", "t2 url"]);
    expect(suggested?.dag?.tasks[1]).toEqual({
      id: "t2",
      tool: "http:post",
      arguments: { url: { $ref: "args.url" }, body: { $ref: "t1.content" } },
    });
    expect(suggested?.edges).toMatchObject([{ from: "t1", to: "t2", type: "provides", coverage: "partial" }]);
    expect(suggested?.confidence).toBe(0.5);
  });

  test("uses given arguments, optional ones too, and then needs no provider", () => {
    const suggested = plan({ "http:post": 0.9, "fs:read": 0.2 }, { url: "u", body: "b", other: 1 });
    expect(suggested?.nodes).toHaveLength(1);
    expect(suggested?.missing).toEqual([]);
    const reading = plan({ "fs:read": 0.9 }, { path: "p", head: "1" });
    expect(Object.keys(reading?.nodes[0]?.arguments ?? {})).toEqual(["path", "head"]);
  });

  test("chains several steps, and prefers observed edges", () => {
    const scores = { "http:post": 0.9, "json:parse": 0.4, "fs:read": 0.4 };
    const shown = plan(scores, {}, ["json:parse http:post"]);
    expect(shown?.nodes.map(({ tool: id }) => id)).toEqual(["fs:read", "json:parse", "http:post"]);
  });

  test("puts consumers after the best tool, and never one argument into two tools", () => {
    const suggested = plan({ "fs:read": 0.9, "fs:write": 0.6 });
    expect(suggested?.nodes.map(({ tool: id }) => id)).toEqual(["fs:read", "fs:write"]);
    expect(suggested?.nodes[1]?.arguments).toMatchObject({
      path: { parameterName: "path_t2" },
      content: { expression: "t1.content" },
    });
    expect(plan({ "fs:read": 0.9, "fs:write": 0.2 })?.nodes).toHaveLength(1);
  });

  test("is undefined if no tool fits", () => {
    expect(plan({})).toBeUndefined();
  });
});

test("predictRun gives the structure's arguments along the dominant path", () => {
  const range = { start: 0, end: 0, line: 1, column: 0 };
  const structure: StaticStructure = {
    nodes: [
      {
        id: "n1",
        type: "task",
        tool: "fs:read",
        label: "",
        range,
        arguments: { path: { type: "parameter", parameterName: "from" } },
      },
      { id: "d1", type: "decision", condition: "x", label: "", range },
      {
        id: "n2",
        type: "task",
        tool: "fs:write",
        label: "",
        range,
        arguments: { content: { type: "reference", expression: "n1.content", nodes: ["n1"] } },
      },
      { id: "n3", type: "capability", capability: "util:tell", label: "", range },
    ],
    edges: [],
  };
  const parameters = { type: "object", properties: { from: text }, required: ["from"] };
  const context = { parameters, given: {}, score: 0.8, findSchemas: () => undefined };
  const predicted = predictRun(structure, ["n1", "d1", "n2"], context);
  expect(predicted.nodes.map(({ id, tool: used }) => `${id} ${used}`)).toEqual(["n1 fs:read", "n2 fs:write"]);
  expect(predicted.missing).toEqual([{ node: "n1", argument: "path", parameter: "from", schema: text }]);
  const all = predictRun(structure, undefined, { ...context, given: { from: "x" } });
  expect(all).toMatchObject({ missing: [], nodes: [{}, {}, { capability: "util:tell" }] });
});

test("the data edges of a predicted run carry the schemas of both sides, and any schema where none is known", () => {
  const range = { start: 0, end: 0, line: 1, column: 0 };
  const [read, write] = [tool("fs:read", ["path"], ["content"]), tool("fs:write", ["content"])];
  const structure: StaticStructure = {
    nodes: [
      { id: "n1", type: "task", tool: "fs:read", label: "", range },
      { id: "n2", type: "task", tool: "fs:write", label: "", range },
      { id: "n3", type: "capability", capability: "util:tell", label: "", range },
    ],
    edges: [
      { from: "n1", to: "n2", type: "provides", coverage: "strict" },
      { from: "n1", to: "n3", type: "provides" },
    ],
  };
  const findSchemas = (id: string) => [read, write].find((each) => each.id === id);
  const { edges } = predictRun(structure, undefined, { parameters: {}, given: {}, score: 1, findSchemas });
  expect(edges).toMatchObject([
    { providerOutputSchema: read.outputSchema, consumerInputSchema: write.inputSchema },
    { providerOutputSchema: read.outputSchema, consumerInputSchema: {} },
  ]);
});
