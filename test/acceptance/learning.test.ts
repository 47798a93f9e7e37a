import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
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
    { config: { permissions: { allow: ["counting:*", "filesystem:*"] } } },
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

describe("what is learned", () => {
  test("[10.1-AC2] [10.1-AC3] [10.1-AC5] [10.1-AC6] [10.1-AC7] [10.1-AC10] [10.1-AC13] [10.2-AC2] [10.2-AC4] [10.2-AC5] [10.7-AC5] [E10-M2] [E10-M4] [E10-M7] [E10-FR1d] [E10-FR11] structure, parameters, paths, decisions, output and graph are all there after a restart", async () => {
    await using scene = await openScene();
    const path = join(scene.folder, "a.txt");
    writeFileSync(path, "hello");
    let name = "";
    {
      await using connected = await connectClient(scene.home.path);
      const { client } = connected;
      const first = await execute(client, { code: COPY, args: { path, to: join(scene.folder, "b.txt") } });
      expect(first).toMatchObject({ status: "success", result: { copied: 5 } });
      name = first.capabilityName;
      await execute(client, { capability: name, args: { path: scene.folder, to: "x" } });
      await execute(client, { capability: name, args: { path, to: join(scene.folder, "c.txt") } });
      await execute(client, { capability: name, args: { path: join(scene.folder, "missing"), to: "x" } });
    }
    await scene.restart();
    const details = await scene.details(name);
    expect(details).toMatchObject({ state: "active", version: 1, usage: { count: 4, successes: 3 } });
    expect(details.source).toMatchObject({ type: "code", code: COPY });
    expect(details.graph.nodes).toMatchObject([
      { id: "n1", type: "task", tool: "filesystem:get_file_info", arguments: { path: { type: "parameter" } } },
      { id: "d1", type: "decision" },
      { id: "n2", type: "task", tool: "filesystem:read_text_file" },
      {
        id: "n3",
        type: "task",
        tool: "filesystem:write_file",
        arguments: { content: { type: "reference", expression: "n2.content" }, path: { parameterName: "to" } },
      },
    ]);
    expect(details.graph.edges).toContainEqual({ from: "n1", to: "d1", type: "sequence" });
    expect(details.graph.edges).toContainEqual({ from: "d1", to: "n2", type: "conditional", outcome: "true" });
    expect(details.graph.edges).toContainEqual(
      expect.objectContaining({ from: "n2", to: "n3", type: "provides", coverage: "partial" }),
    );
    expect(Object.keys(details.parameters.properties).toSorted()).toEqual(["path", "to"]);
    expect(details.learning.paths).toMatchObject([
      { path: ["n1", "d1", "n2", "n3"], count: 2, successRate: 1 },
      { count: 1 },
      { count: 1 },
    ]);
    expect(details.learning.dominantPath).toEqual(["n1", "d1", "n2", "n3"]);
    expect(details.learning.decisionStats).toMatchObject([
      { nodeId: "d1", outcomes: { false: { count: 1 }, true: { count: 2 } } },
    ]);
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

const went = (outcome: string): object[] => [expect.objectContaining({ nodeId: "d1", outcome })];

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
      decisions: went("false"),
      task_summaries: [{ nodeId: "n2", tool: "counting:list", status: "success" }],
    });
  expect(traceOf("failed")).toMatchObject({
    ...ofBranch,
    success: false,
    error: { message: expect.stringContaining("no x") as string },
    executed_path: ["d1", "n1"],
    decisions: went("true"),
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
    const answer = await execute(connected.client, { intent: "list some numbers" });
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

  test("[10.7-AC7] [E10-FR10] [E10-P5] the old names still answer, and say what to use instead", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    const { client } = connected;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain("pml_execute_code");
    const result = await client.callTool({
      name: "pml_execute_code",
      arguments: { intent: "add", code: "return 1 + 1" },
    });
    const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    expect(JSON.parse(text.split("\n")[0] ?? "")).toMatchObject({ status: "success", result: 2 });
    expect(text).toContain("pml_execute_code is deprecated; use pml_execute");
  });
});
