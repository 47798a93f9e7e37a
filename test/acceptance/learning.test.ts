import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFolder } from "../support/databases.ts";
import { execute, type Executed } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

interface Details {
  readonly state: string;
  readonly version: number;
  readonly source: { readonly type: string; readonly code?: string };
  readonly parameters: { readonly properties: Record<string, unknown>; readonly required?: string[] };
  readonly graph: {
    readonly nodes: Record<string, unknown>[];
    readonly edges: { from: string; to: string; type: string; coverage?: string }[];
  };
  readonly learning: {
    readonly paths: { path: string[]; count: number; successRate: number }[];
    readonly dominantPath: string[];
    readonly decisionStats: unknown[];
  };
  readonly outputSchema: unknown;
  readonly usage: { count: number; successes: number };
  readonly edges: { from: string; to: string; type: string; observed: number; confidence: number }[];
}

interface Scene extends AsyncDisposable {
  readonly home: GatewayHome;
  readonly folder: string;
  details(name: string): Promise<Details>;
  restart(): Promise<void>;
}

async function openScene(): Promise<Scene> {
  const work = await makeFolder();
  const file = join(work.path, "calls.txt");
  const folder = join(work.path, "files");
  mkdirSync(folder);
  writeFileSync(file, "");
  const home = await startGateway(
    { counting: servers.counting(file), filesystem: servers.filesystem(folder) },
    { config: { permissions: { allow: ["counting:*", "filesystem:*"] }, discovery: { runAbove: 0.85 } } },
  );
  await home.ready("counting", "filesystem");
  return {
    home,
    folder,
    details: (name) => runJson<Details>(["graph", name], { home: home.path }),
    async restart() {
      await runPml(["down"], { home: home.path });
      await runJson(["up"], { home: home.path });
    },
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await work[Symbol.asyncDispose]();
    },
  };
}

const COPY = `
  const file = await mcp.filesystem.get_file_info({ path: args.path });
  if (file.content.includes("isFile: true")) {
    const { content } = await mcp.filesystem.read_text_file({ path: args.path });
    await mcp.filesystem.write_file({ path: args.to, content });
    return { copied: content.length };
  }
  return { copied: 0 };
`;

const decided = (outcome: string): object[] => [expect.objectContaining({ nodeId: "d1", outcome })];
const tool = (name: string) => expect.objectContaining({ tool: `filesystem:${name}` }) as unknown;

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

describe("what is learned", () => {
  const stack = new AsyncDisposableStack();
  let shared: Scene;
  let learned: Executed;
  let details: Details;

  beforeAll(async () => {
    shared = stack.use(await openScene());
    const path = join(shared.folder, "a.txt");
    writeFileSync(path, "hello");
    {
      await using connected = await connectClient(shared.home.path);
      const { client } = connected;
      learned = await execute(client, { code: COPY, args: { path, to: join(shared.folder, "b.txt") } });
      const { capabilityName: capability } = learned;
      await execute(client, { capability, args: { path: shared.folder, to: "x" } });
      await execute(client, { capability, args: { path, to: join(shared.folder, "c.txt") } });
      await execute(client, { capability, args: { path: join(shared.folder, "missing"), to: "x" } });
    }
    await shared.restart();
    details = await shared.details(learned.capabilityName);
  });

  afterAll(() => stack.disposeAsync());

  test("[10.1-AC7] [10.7-AC5] [E10-FR11] a success is a capability with its structure, edges and output, after a restart", () => {
    expect(learned).toMatchObject({ status: "success", result: { copied: 5 } });
    expect(details).toMatchObject({ state: "active", version: 1, usage: { count: 4, successes: 3 } });
    expect(details.source).toMatchObject({ type: "code", code: COPY });
    expect(details.graph.nodes.map(({ id }) => id)).toEqual(["n1", "d1", "n2", "n3"]);
    expect(details.outputSchema).toMatchObject({ properties: { copied: { type: "integer" } } });
    expect(details.edges).toContainEqual(
      expect.objectContaining({
        from: "filesystem:read_text_file",
        to: "filesystem:write_file",
        type: "provides",
        observed: 2,
      }),
    );
  });

  test("[10.1-AC6] [10.1-AC10] [10.1-AC13] [E10-FR1d] its edges show order, branches and data", () => {
    expect(details.graph.nodes[1]).toMatchObject({ type: "decision", condition: expect.stringContaining("isFile") });
    expect(details.graph.edges).toEqual([
      { from: "n1", to: "d1", type: "sequence" },
      { from: "d1", to: "n2", type: "conditional", outcome: "true" },
      { from: "n2", to: "n3", type: "sequence" },
      expect.objectContaining({ from: "n2", to: "n3", type: "provides", coverage: "partial" }),
      { from: "n1", to: "n2", type: "provides" },
    ]);
  });

  test("[10.2-AC2] [10.2-AC4] [10.2-AC5] its calls have arguments that come from parameters and from results", () => {
    expect(details.graph.nodes.filter(({ type }) => type === "task")).toMatchObject([
      { tool: "filesystem:get_file_info", arguments: { path: { type: "parameter", parameterName: "path" } } },
      { tool: "filesystem:read_text_file", arguments: { path: { type: "parameter", parameterName: "path" } } },
      {
        tool: "filesystem:write_file",
        arguments: {
          path: { type: "parameter", parameterName: "to" },
          content: { type: "reference", expression: "n2.content" },
        },
      },
    ]);
    expect(Object.keys(details.parameters.properties).toSorted()).toEqual(["path", "to"]);
  });

  test("[E10-M4] [E10-M7] its paths and decisions are counted", () => {
    expect(details.learning.paths).toMatchObject([
      { path: ["n1", "d1", "n2", "n3"], count: 2, successRate: 1 },
      { count: 1 },
      { count: 1 },
    ]);
    expect(details.learning.dominantPath).toEqual(["n1", "d1", "n2", "n3"]);
    expect(details.learning.decisionStats).toMatchObject([
      { nodeId: "d1", outcomes: { false: { count: 1 }, true: { count: 2 } } },
    ]);
  });

  test("[E10-M2] every run is a row of execution_trace: its path, decisions and tasks, apart from the capability", async () => {
    const rows = await exportedRows(shared.home.path, "execution_trace");
    const traces = rows.filter((row) => row["record_id"] === learned.capabilityId);
    const copied = {
      success: true,
      executed_path: ["n1", "d1", "n2", "n3"],
      decisions: decided("true"),
      task_summaries: [tool("get_file_info"), tool("read_text_file"), tool("write_file")],
    };
    expect(traces.toSorted((a, b) => String(a["created_at"]).localeCompare(String(b["created_at"])))).toMatchObject([
      copied,
      {
        success: true,
        executed_path: ["n1", "d1"],
        decisions: decided("false"),
        task_summaries: [tool("get_file_info")],
      },
      copied,
      { success: false, executed_path: ["n1"], decisions: [], error: { message: expect.stringContaining("missing") } },
    ]);
  });

  test("[E11.1] runs are listed, shown and replayed against what was recorded, after a restart", async () => {
    await using scene = await openScene();
    const home = scene.home.path;
    {
      await using connected = await connectClient(home);
      await execute(connected.client, {
        intent: "count three",
        code: `const { items } = await mcp.counting.list({ length: 3 }); const t = Date.now(); return items.map((n) => n + Math.random() * 0 + (t > 0 ? 1 : 0));`,
      });
      await execute(connected.client, { intent: "fail", code: `await mcp.counting.fail({ key: "x" })` });
    }
    await scene.restart();
    const runs = await runJson<{ id: string; intent: string; state: string }[]>(["runs"], { home });
    expect(runs.map(({ intent, state }) => [intent, state])).toEqual([
      ["fail", "failed"],
      ["count three", "succeeded"],
    ]);
    const id = runs[1]?.id ?? "";
    const shown = await runJson<{ result: unknown; trace: { path: string[] } }>(["run-show", id], { home });
    expect(shown).toMatchObject({ result: [1, 2, 3], trace: { path: ["n1"] } });
    expect(await runJson(["replay", id], { home })).toMatchObject({ same: true, result: [1, 2, 3] });
    expect(await runJson(["result", id, "n1"], { home })).toEqual({ items: [0, 1, 2] });
    const { code, stderr } = await runPml(["run-show", "nonsense"], { home });
    expect(code).toBe(3);
    expect(stderr).toContain("No run has the id nonsense");
  });
});

test("[E11.2] every run has a stored trace: what it was of, its path, decisions and tasks, its end, its time and how unusual it was", async () => {
  await using scene = await openScene();
  const home = scene.home.path;
  const branch = `if (args.fail) await mcp.counting.fail({ key: "x" }); return (await mcp.counting.list({ length: 1 })).items;`;
  const runs: Record<string, Executed> = {};
  {
    await using connected = await connectClient(home);
    const run = (request: Record<string, unknown>): Promise<Executed> => execute(connected.client, request);
    runs["first"] = await run({ code: branch, args: { fail: false }, name: "util:branch" });
    runs["second"] = await run({ capability: "util:branch", args: { fail: false } });
    runs["failed"] = await run({ capability: "util:branch", args: { fail: true } });
    runs["outer"] = await run({ code: "return await capabilities.util.branch({ fail: false })", name: "util:outer" });
  }
  await scene.restart();
  const rows = await exportedRows(home, "execution_trace");
  const traceOf = (key: string) => rows.find((row) => row["run_id"] === runs[key]?.workflowId);
  const ofBranch = { record_id: runs["first"].capabilityId, version: 1, parent_run_id: null };
  for (const key of ["first", "second"])
    expect(traceOf(key)).toMatchObject({
      ...ofBranch,
      success: true,
      error: null,
      executed_path: ["d1", "n2"],
      decisions: decided("false"),
      task_summaries: [{ nodeId: "n2", tool: "counting:list", status: "success" }],
    });
  expect(traceOf("failed")).toMatchObject({
    ...ofBranch,
    success: false,
    error: { message: expect.stringContaining("no x") as string },
    executed_path: ["d1", "n1"],
    decisions: decided("true"),
    task_summaries: [{ nodeId: "n1", tool: "counting:fail", status: "error" }],
  });
  const nested = rows.filter((row) => row["parent_run_id"] === runs["outer"]?.workflowId);
  expect(nested).toMatchObject([{ record_id: runs["first"].capabilityId, success: true, executed_path: ["d1", "n2"] }]);
  for (const { duration_ms: duration, created_at: at } of rows)
    expect([Number(duration) > 0, Date.parse(String(at)) <= Date.now()]).toEqual([true, true]);
  // A path of three runs out of four is less surprising than a path of one.
  const surpriseOf = async (key: string): Promise<number> =>
    (await runJson<{ surprise: number }>(["run-show", runs[key]?.workflowId ?? ""], { home })).surprise;
  expect(await surpriseOf("failed")).toBeGreaterThan(await surpriseOf("second"));
});

describe("intents", () => {
  test("[10.7-AC4] [10.7-AC9] an intent alone gives tools and capabilities that fit", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    await execute(connected.client, {
      intent: "list numbers up to a length",
      code: `return await mcp.counting.list({ length: args.length })`,
      args: { length: 1 },
    });
    const answer = await execute(connected.client, {
      intent: "list some numbers",
      options: { detail: "full" },
    });
    expect(answer.status).toBe("suggestions");
    expect(answer.suggestions.tools[0]).toMatchObject({ id: "counting:list", inputSchema: { type: "object" } });
    expect(answer.suggestions.capabilities[0]).toMatchObject({ toolsUsed: ["counting:list"] });
  });

  test("[10.7-AC3] [10.7-AC10] [10.7-AC11] with context, a capability that fits is run; otherwise it says why not", async () => {
    await using scene = await openScene();
    const home = scene.home.path;
    {
      await using connected = await connectClient(home);
      await execute(connected.client, {
        intent: "list numbers up to a length",
        code: `return await mcp.counting.list({ length: args.length })`,
        args: { length: 1 },
      });
    }
    await scene.restart();
    await using connected = await connectClient(home);
    const hit = await execute(connected.client, { intent: "list numbers up to the length", context: { length: 2 } });
    expect(hit).toMatchObject({ status: "success", mode: "speculation", result: { items: [0, 1] } });
    const incomplete = await execute(connected.client, { intent: "list numbers up to a length", context: {} });
    expect(incomplete).toMatchObject({ status: "suggestions" });
    expect(incomplete.reason).toContain("needs length");
    const miss = await execute(connected.client, { intent: "paint a picture", context: { length: 2 } });
    expect(miss).toMatchObject({ status: "suggestions" });
    expect(miss.reason).toContain("No capability");
  });

  test("[10.7-AC7] [E10-FR10] [E10-P5] two tools stand for five: the old names are not listed, still answer, and say what to use", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    const { client } = connected;
    const tasks = [{ id: "only", tool: "counting:list", arguments: { length: 2 } }];
    const old = {
      pml_search_tools: [{ query: "list numbers" }, "pml_discover"],
      pml_search_capabilities: [{ query: "list numbers" }, "pml_discover"],
      pml_find_capabilities: [{ query: "list numbers" }, "pml_discover"],
      pml_execute_dag: [{ intent: "count", dag: { tasks } }, "pml_execute"],
      pml_execute_code: [{ intent: "add", code: "return 1 + 1" }, "pml_execute"],
    } as const;
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    expect(listed).toEqual(expect.arrayContaining(["pml_discover", "pml_execute"]));
    expect(listed.filter((name) => name in old)).toEqual([]);
    const answers = new Map<string, unknown>();
    for (const [name, [request, instead]] of Object.entries(old)) {
      const result = await client.callTool({ name, arguments: request });
      expect([name, result.isError ?? false]).toEqual([name, false]);
      expect(textOf(result)).toContain(`${name} is deprecated; use ${instead}`);
      answers.set(name, JSON.parse(textOf(result).split("\n")[0] ?? ""));
    }
    expect(answers.get("pml_execute_code")).toMatchObject({ status: "success", result: 2 });
    expect(answers.get("pml_execute_dag")).toMatchObject({ status: "success", result: { items: [0, 1] } });
    expect(JSON.stringify(answers.get("pml_search_tools"))).toContain("counting:list");
  });
});
