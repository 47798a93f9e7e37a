import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { execute } from "../support/execute.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { runJson } from "../support/pml.ts";

interface ShownNode {
  readonly id: string;
  readonly type: string;
  readonly tool?: string;
  readonly capability?: string;
  readonly condition?: string;
  readonly arguments?: Record<string, unknown>;
}

interface ShownEdge {
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly outcome?: string;
}

interface Shown {
  readonly state: string;
  readonly source: Record<string, unknown>;
  readonly parameters: { readonly properties: Record<string, unknown>; readonly required: string[] };
  readonly graph: { readonly nodes: ShownNode[]; readonly edges: ShownEdge[] };
  readonly edges: { from: string; to: string; type: string }[];
  readonly usage: { count: number; successes: number };
}

interface ShownRun {
  readonly id: string;
  readonly parent?: { readonly runId: string };
  readonly nested: { runId: string }[];
  readonly surprise: number;
  readonly trace: { path: string[]; decisions: { nodeId: string; outcome: string }[]; tasks: { status: string }[] };
}

let scene: CountingScene;
let connected: TestClient;

beforeAll(async () => {
  scene = await openCountingScene({ permissions: { allow: ["counting:*"], deny: ["counting:drop"] } });
  connected = await connectClient(scene.home.path);
});

afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const run = (request: Record<string, unknown>) => execute(connected.client, request);
const show = (name: string): Promise<Shown> => runJson<Shown>(["graph", name], { home: scene.home.path });
const find = (name: string) =>
  runJson<{ source: { type: string }; code_snippet: string | null }>(["whois", name], { home: scene.home.path });
const showRun = (id: string): Promise<ShownRun> => runJson<ShownRun>(["run-show", id], { home: scene.home.path });

async function restart(): Promise<void> {
  await connected[Symbol.asyncDispose]();
  await scene.restart();
  connected = await connectClient(scene.home.path);
}

describe("a capability", () => {
  const listing = `return await mcp.counting.list({ length: args.length ?? 2 });`;

  test("[10.5-AC1] [10.5-AC4] [10.5-AC9] [10.5-AC11] [E10-FR5] [E10-M9] is code, a DAG, or one tool with arguments, and comes back as what it is", async () => {
    await run({ code: listing, name: "util:as_code" });
    const tasks = [{ id: "only", tool: "counting:list", arguments: { length: { $ref: "args.length" } } }];
    await run({ dag: { tasks }, args: { length: 1 }, name: "util:as_dag" });
    const accepted = { callName: "counting__list", args: { length: 3 } };
    const first = await run({ intent: "count to three", accept_suggestion: accepted, name: "util:as_tool" });
    expect(first).toMatchObject({ status: "success", result: { items: [0, 1, 2] }, capabilityName: "util:as_tool" });
    expect(first.dag.nodes).toEqual([{ id: "n1", type: "task", tool: "counting:list" }]);
    await restart();
    const [asCode, asDag, asTool] = await Promise.all(["util:as_code", "util:as_dag", "util:as_tool"].map(show));
    expect(asCode?.source).toEqual({ type: "code", code: listing });
    expect(asDag?.source).toMatchObject({ type: "dag", dagStructure: { tasks: [{ id: "only" }] } });
    expect(asTool?.source).toEqual({ type: "tool", toolId: "counting:list", defaultArgs: { length: 3 } });
  });

  test("[10.5-AC2] [10.5-AC5] [10.5-AC7] is found with its structure and, where it is one, its program text", async () => {
    for (const [name, type, text] of [
      ["util:as_code", "code", listing],
      ["util:as_dag", "dag", null],
      ["util:as_tool", "tool", null],
    ] as const) {
      expect((await show(name)).graph.nodes).toMatchObject([{ type: "task", tool: "counting:list" }]);
      expect(await find(name)).toMatchObject({ source: { type }, code_snippet: text });
    }
    const { graph, parameters } = await show("util:as_tool");
    expect(parameters).toMatchObject({ properties: { length: { type: "number", default: 3 } }, required: [] });
    expect(graph.nodes).toMatchObject([{ arguments: { length: { type: "literal", value: 3 } } }]);
  });

  test("[10.5-AC13] that is a tool calls it, with its defaults, by name and from programs", async () => {
    expect((await run({ capability: "util:as_tool" })).result).toEqual({ items: [0, 1, 2] });
    expect((await run({ capability: "util:as_tool", args: { length: 1 } })).result).toEqual({ items: [0] });
    const nested = await run({ code: `return await capabilities.util.as_tool({ length: 2 })` });
    expect(nested.result).toEqual({ items: [0, 1] });
    expect((await show("util:as_tool")).usage).toEqual({ count: 4, successes: 4 });
  });

  test("that is a tool obeys the rules, and keeps no secret as a default", async () => {
    const denied = await run({
      accept_suggestion: { callName: "counting:drop", args: { key: "x" } },
      name: "util:drop",
    });
    expect(denied).toMatchObject({ status: "error", error: { code: "permission_denied" } });
    const key = `sk-live-${"a".repeat(20)}`;
    await run({ accept_suggestion: { callName: "counting:read", args: { key } }, name: "util:read_it" });
    expect(JSON.stringify(await show("util:read_it"))).not.toContain(key);
    const unknown = await run({ accept_suggestion: { callName: "counting:lst" } });
    expect(unknown).toMatchObject({ status: "error", error: { code: "capability_not_found" } });
    expect(scene.happened().filter((line) => line.startsWith("drop"))).toEqual([]);
  });

  test("[E10-M1] [E10-FR1] [K8] is a draft from its text on, and active once a run succeeded", async () => {
    const code = `const { items } = await mcp.counting.list({ length: args.length });
      if (items.length === 0) throw new Error("nothing there");
      return items.length;`;
    const failed = await run({ intent: "measure the ladder", code, args: { length: 0 } });
    expect(failed).toMatchObject({ status: "error", error: { line: 2 } });
    expect(await show(failed.capabilityName)).toMatchObject({ state: "draft", usage: { count: 1, successes: 0 } });
    const options = { detail: "full" };
    const before = await run({ intent: "measure the ladder", options });
    expect(before.suggestions.capabilities.map(({ name }) => name)).not.toContain(failed.capabilityName);
    const worked = await run({ intent: "measure the ladder", code, args: { length: 2 } });
    expect(worked).toMatchObject({ status: "success", capabilityId: failed.capabilityId });
    expect(await show(failed.capabilityName)).toMatchObject({ state: "active", usage: { count: 2, successes: 1 } });
    const after = await run({ intent: "measure the ladder", options });
    expect(after.suggestions.capabilities[0]).toMatchObject({ name: failed.capabilityName });
  });
});

/** The edges of calls that run side by side. */
function sideBySide(fork: string, calls: readonly string[], joined: string): string[] {
  return calls.flatMap((call) => [`${fork} ${call} sequence`, `${call} ${joined} sequence`]);
}

describe("a structure", () => {
  test("[10.1-AC3] [10.1-AC5] [10.1-AC11] has a node for every call, branch and fork, connected as they are written, after a restart", async () => {
    await run({ code: `return args.n ?? 1;`, name: "util:inner" });
    const { capabilityName, status } = await run({
      code: `const { count } = await mcp.counting.read({ key: "a" });
        if (count > 99) await mcp.counting.add({ key: "if" });
        switch (count) { case 99: await mcp.counting.add({ key: "case" }); }
        const length = count > 99 ? (await mcp.counting.read({ key: "b" })).count : await capabilities.util.inner({});
        await Promise.all([mcp.counting.list({ length }), mcp.counting.slow({ ms: 1 })]);
        await Promise.allSettled([mcp.counting.list({ length: 1 }), mcp.counting.slow({ ms: 2 })]);
        for (const n of [1]) await mcp.counting.list({ length: n });`,
    });
    expect(status).toBe("success");
    await restart();
    const { graph } = await show(capabilityName);
    const named = graph.nodes.map(({ id, type, tool, capability, condition }) =>
      [id, type, tool ?? capability ?? condition].filter((each) => each !== undefined).join(" "),
    );
    expect(named).toEqual([
      "n1 task counting:read",
      "d1 decision count > 99",
      "n2 task counting:add",
      "d2 decision count",
      "n3 task counting:add",
      "d3 decision count > 99",
      "n4 task counting:read",
      "n5 capability util:inner",
      "f1 fork",
      "n6 task counting:list",
      "n7 task counting:slow",
      "j1 join",
      "f2 fork",
      "n8 task counting:list",
      "n9 task counting:slow",
      "j2 join",
      "l1 loop",
      "n10 task counting:list",
    ]);
    const edges = graph.edges.map(({ from, to, type, outcome }) => `${from} ${to} ${outcome ?? type}`);
    expect(edges.filter((edge) => !edge.endsWith("sequence"))).toEqual([
      "d1 n2 true",
      "d1 d2 false",
      "d2 n3 case 99",
      "d2 d3 default",
      "d3 n4 true",
      "d3 n5 false",
      "l1 n10 contains",
      "n1 n6 provides",
      "n4 n6 provides",
      "n5 n6 provides",
    ]);
    const forks = [...sideBySide("f1", ["n6", "n7"], "j1"), ...sideBySide("f2", ["n8", "n9"], "j2")];
    expect(edges).toEqual(expect.arrayContaining([...forks, "n1 d1 sequence", "j1 f2 sequence", "j2 l1 sequence"]));
  });

  test("[10.1-AC4] [10.2-AC1] [10.2-AC3] [10.2-AC7] says where every argument comes from", async () => {
    const path = join(scene.folder, "mixed.txt");
    writeFileSync(path, "mixed");
    const answer = await run({
      code: `const { content } = await mcp.filesystem.read_text_file({ path: args.path, head: 1 });
        // a label keeps the program as it is written: its literals stay literals
        all: for (const last of [2]) if (last > 5) break all;
        const { items } = await mcp.counting.list({ length: 3 });
        return await mcp.counting.add({ key: \`\${content} \${items[2]}\` });`,
      args: { path },
    });
    expect(answer).toMatchObject({ status: "success" });
    const { graph } = await show(answer.capabilityName);
    expect(graph.nodes.map(({ arguments: given }) => given)).toEqual([
      { path: { type: "parameter", parameterName: "path" }, head: { type: "literal", value: 1 } },
      { length: { type: "literal", value: 3 } },
      { key: { type: "reference", expression: expect.stringContaining("content"), nodes: ["n1", "n2"] } },
    ]);
    const broken = await run({ code: "const a = ;" });
    expect(broken.error).toMatchObject({ code: "syntax_error", line: 1, hint: expect.stringContaining("const a") });
  });

  test("[E10-P1] calls that run side by side are connected with what comes before and after, not with each other", async () => {
    for (const parallel of [
      `await Promise.all([mcp.counting.put({ key: "a" }), mcp.counting.add({ key: "b" })]);`,
      `const started = [mcp.counting.put({ key: "c" }), mcp.counting.add({ key: "d" })]; await Promise.all(started);`,
    ]) {
      const answer = await run({
        code: `await mcp.counting.read({ key: "first" }); ${parallel} return await mcp.counting.slow({ ms: 1 });`,
      });
      expect(answer.dag.nodes.map(({ type }) => type)).toEqual(["task", "fork", "task", "task", "join", "task"]);
      const { edges } = await show(answer.capabilityName);
      const sequences = edges.filter(({ type }) => type === "sequence").map(({ from, to }) => `${from} ${to}`);
      expect(sequences).toEqual(
        expect.arrayContaining([
          "counting:add counting:slow",
          "counting:put counting:slow",
          "counting:read counting:add",
          "counting:read counting:put",
        ]),
      );
      expect(sequences).not.toContain("counting:put counting:add");
    }
  });
});

describe("a run", () => {
  test("[E10-M3] [E10-M6] [E11.3] has its path by nodes, its decisions, its parent, and how unusual it was", async () => {
    await run({
      code: `if (args.big) return (await mcp.counting.list({ length: 9 })).items.length; return 0;`,
      args: { big: true },
      name: "util:big_or_not",
    });
    const runs = [true, true, true, false].map((big) => run({ capability: "util:big_or_not", args: { big } }));
    const [, , , unusual] = await Promise.all(runs);
    const outer = await run({ code: `return await capabilities.util.big_or_not({ big: true })` });
    const [inner] = (await showRun(outer.workflowId)).nested;
    const usual = await showRun(inner?.runId ?? "");
    expect(usual.parent?.runId).toBe(outer.workflowId);
    expect(usual).toMatchObject({ surprise: 0.167, trace: { path: ["d1", "n1"], tasks: [{ status: "success" }] } });
    expect(usual.trace.decisions).toMatchObject([{ nodeId: "d1", outcome: "true" }]);
    expect(await showRun(unusual?.workflowId ?? "")).toMatchObject({ surprise: 0.833, trace: { path: ["d1"] } });
  });

  test("[E11.5] can be tried without calling anything: what it would call, and with which permission", async () => {
    const before = scene.happened();
    const code = `const { items } = await mcp.counting.list({ length: 2 });
      for (const item of items) await mcp.counting.add({ key: String(item) });
      return items;`;
    const blind = await run({ code, options: { dry_run: true } });
    expect(blind).toMatchObject({ status: "dry_run", possible: ["counting:add"] });
    expect(blind.plan).toMatchObject([{ tool: "counting:list", decision: "allow", recorded: false }]);
    expect(scene.happened()).toEqual(before);
    await run({ code });
    const informed = await run({ code, options: { dry_run: true } });
    expect(informed).toMatchObject({ status: "dry_run", result: [0, 1] });
    expect(informed.plan.map(({ tool, args }) => [tool, args])).toEqual([
      ["counting:list", { length: 2 }],
      ["counting:add", { key: "0" }],
      ["counting:add", { key: "1" }],
    ]);
    expect(scene.happened()).toEqual([...before, "add 0", "add 1"]);
    const refused = await run({ code: `await mcp.counting.drop({ key: "x" })`, options: { dry_run: true } });
    expect(refused.plan).toMatchObject([{ tool: "counting:drop", decision: "deny" }]);
  });

  test("[K14] [PRD-trace] takes context as args, reports progress, and goes on after a failure it expected", async () => {
    const told: string[] = [];
    const result = await connected.client.callTool(
      {
        name: "pml_execute",
        arguments: {
          intent: "try and go on",
          context: { key: "luck" },
          code: `try { await mcp.counting.fail({ key: args.key }); } catch (error) {
            return [error.message, (await mcp.counting.read({ key: args.key })).count > 0]; }`,
        },
      },
      { onprogress: ({ message }) => void told.push(message ?? "") },
    );
    const [first] = result.content;
    const answer = JSON.parse(first?.type === "text" ? first.text : "{}") as { result: unknown; dag: unknown };
    expect(answer.result).toEqual([expect.stringContaining("no luck"), true]);
    expect(answer.dag).toMatchObject({ path: ["t1", "n1", "n2"] });
    expect(told).toEqual(["counting:fail", "counting:read"]);
  });

  test("[S2-E1] [S2-E2] [S2-N2] names that are illegal or taken are refused, and a capability wins over everything but code", async () => {
    const illegal = await run({ code: "return 1", name: "not a name" });
    expect(illegal.error?.message).toMatch(/^Invalid capability name/);
    await run({ code: "return 2", name: "util:taken" });
    const taken = await run({ code: "return 3", name: "util:taken" });
    expect(taken.error?.message).toContain("Capability name 'util:taken' already exists");
    const byName = await run({ capability: "util:taken", context: {} });
    expect(byName).toMatchObject({ mode: "call_by_name", result: 2 });
    const direct = await run({ code: "return args.any", context: { any: 1 } });
    expect(direct).toMatchObject({ mode: "direct", result: 1 });
  });
});
