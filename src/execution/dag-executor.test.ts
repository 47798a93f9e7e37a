import { describe, expect, test } from "vitest";
import type { DagStructure } from "../registry/capability.ts";
import { dagParameters, dagToStructure, executeDag, layersOf } from "./dag-executor.ts";
import type { CallAnswer, GuestCall, RunHost } from "./worker-bridge.ts";

type FakeTool = (args: Record<string, unknown>) => unknown;

function createHost(tools: Record<string, FakeTool>): RunHost & { calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    async call(call: GuestCall): Promise<CallAnswer> {
      if (call.kind !== "tool") throw new Error("only tools");
      calls.push(call.node ?? "");
      await Promise.resolve();
      try {
        return { ok: true, clock: 0, value: tools[call.tool]?.(call.args as Record<string, unknown>) as never };
      } catch (error) {
        return { ok: false, clock: 0, error: { name: "ToolError", message: String(error), code: "tool_error" } };
      }
    },
    decided: () => undefined,
    logged: () => undefined,
  };
}

const chain: DagStructure = {
  tasks: [
    { id: "read", tool: "fs:read", arguments: { path: { $ref: "args.path" } } },
    { id: "parse", tool: "json:parse", arguments: { json: { $ref: "read.content" } } },
    { id: "stat", tool: "fs:stat", arguments: { path: { $ref: "args.path" } } },
    { id: "join", tool: "util:join", arguments: { a: { $ref: "parse" }, b: [{ $ref: "stat.size" }] } },
  ],
};

const tools: Record<string, FakeTool> = {
  read: ({ path }) => ({ content: `{"from":"${String(path)}"}` }),
  parse: ({ json }) => JSON.parse(String(json)) as unknown,
  stat: () => ({ size: 7 }),
  join: (args) => args,
};

describe("executeDag", () => {
  test("runs layers in order and hands results on", async () => {
    const host = createHost(tools);
    const result = await executeDag(chain, { args: { path: "a.json" }, host, maxCalls: 4 });
    expect(result).toEqual({ a: { from: "a.json" }, b: [7] });
    expect(layersOf(chain).map((layer) => layer.map(({ id }) => id))).toEqual([["read", "stat"], ["parse"], ["join"]]);
  });

  test("skips tasks whose condition is false, and their dependents", async () => {
    const host = createHost(tools);
    const dag: DagStructure = {
      tasks: [
        { id: "stat", tool: "fs:stat" },
        { id: "big", tool: "util:join", condition: "stat.size == 8" },
        { id: "small", tool: "util:join", condition: "stat.size != 8", arguments: { small: true } },
        { id: "after", tool: "util:join", dependsOn: ["big"] },
        { id: "never", tool: "util:join", condition: "!stat.size" },
      ],
    };
    const result = await executeDag(dag, { args: {}, host, maxCalls: 2 });
    expect(host.calls).toEqual(["stat", "small"]);
    expect(result).toEqual({ small: { small: true }, after: null, never: null });
  });

  test("a task that may fail leaves null; another ends the run", async () => {
    const failing = { ...tools, read: () => raise("gone") };
    const safe = chain.tasks.map((each) => (each.id === "read" ? { ...each, safeToFail: true } : each));
    const host = createHost({ ...failing, parse: (args) => args });
    expect(await executeDag({ tasks: safe }, { args: { path: "a" }, host, maxCalls: 4 })).toEqual({
      a: { json: null },
      b: [7],
    });
    const run = { args: { path: "a" }, host: createHost(failing), maxCalls: 4 };
    await expect(executeDag(chain, run)).rejects.toMatchObject({ task: "read" });
  });

  test("refuses cycles, missing tasks and equal ids", () => {
    expect(() => layersOf({ tasks: [task("a", "b"), task("b", "a")] })).toThrow("a → b → a");
    expect(() => layersOf({ tasks: [task("a", "z")] })).toThrow("depends on z");
    expect(() => layersOf({ tasks: [task("a"), task("a")] })).toThrow("same id");
    expect(() => layersOf({ tasks: [{ ...task("a"), condition: "a ==== b" }] })).toThrow("condition");
  });

  test("has a structure and parameters like a program", () => {
    const { nodes, edges } = dagToStructure(chain);
    expect(nodes.map(({ id, type }) => `${type} ${id}`)).toEqual(["task read", "task parse", "task stat", "task join"]);
    expect(edges).toContainEqual({ from: "read", to: "parse", type: "provides" });
    expect(edges).toContainEqual({ from: "stat", to: "join", type: "sequence" });
    expect(dagParameters(chain)).toMatchObject({ required: ["path"] });
  });
});

function task(id: string, ...dependsOn: string[]): DagStructure["tasks"][number] {
  return { id, tool: "a:b", dependsOn };
}

function raise(message: string): never {
  throw new Error(message);
}
