import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

interface Scene extends AsyncDisposable {
  readonly home: GatewayHome;
  readonly folder: string;
  /** Calls that reached the counting server. */
  happened(): string[];
}

const ALLOW_COUNTING = { permissions: { allow: ["counting:*"] } };

async function openScene(config: Record<string, unknown> = ALLOW_COUNTING): Promise<Scene> {
  const work = await makeFolder();
  const file = join(work.path, "calls.txt");
  const folder = join(work.path, "files");
  mkdirSync(folder);
  writeFileSync(file, "");
  const home = await startGateway(
    { counting: servers.counting(file), filesystem: servers.filesystem(folder) },
    { config },
  );
  await home.ready("counting", "filesystem");
  return {
    home,
    folder,
    happened: () => readFileSync(file, "utf8").split("\n").filter(Boolean),
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await work[Symbol.asyncDispose]();
    },
  };
}

async function restart({ home }: Scene): Promise<void> {
  await runPml(["down"], { home: home.path });
  await runJson(["up"], { home: home.path });
}

const READ_FIRST = `
  const { content } = await mcp.filesystem.read_text_file({ path: args.path });
  const data = JSON.parse(content);
  if (data.items.length > 1) {
    const { count } = await mcp.counting.add({ key: "many" });
    return { many: data.items.length, count };
  }
  return { few: data.items.length };
`;

describe("running code", () => {
  test.each(clientKinds)(
    "[10.7-AC1] [10.7-AC2] [10.7-AC12] [S2-T5] [E10-FR7] code runs and becomes a capability, over $transport ($era)",
    async (kind) => {
      await using scene = await openScene();
      const path = join(scene.folder, "a.json");
      writeFileSync(path, JSON.stringify({ items: [1, 2] }));
      await using connected = await connectClient(scene.home.path, kind);
      const answer = await execute(connected.client, { intent: "count items", code: READ_FIRST, args: { path } });
      expect(answer).toMatchObject({
        status: "success",
        result: { many: 2, count: 1 },
        mode: "direct",
        isError: false,
      });
      expect(answer.capabilityName).toMatch(/^unnamed_[0-9a-f]{8}$/);
      const hash = answer.capabilityName.slice("unnamed_".length);
      expect(answer.capabilityFqdn).toBe(`local.default.counting.exec_${hash}.${hash.slice(0, 4)}`);
      expect(scene.happened()).toEqual(["add many"]);
    },
  );

  test("[10.7-AC13] [10.1-AC1] [10.1-AC9] a success keeps the structure that was inferred from its text", async () => {
    await using scene = await openScene();
    const path = join(scene.folder, "a.json");
    writeFileSync(path, JSON.stringify({ items: [1, 2] }));
    await using connected = await connectClient(scene.home.path);
    const answer = await execute(connected.client, { intent: "count items", code: READ_FIRST, args: { path } });
    const nodes = [
      { id: "n1", type: "task", tool: "filesystem:read_text_file" },
      { id: "d1", type: "decision", condition: "data.items.length > 1" },
      { id: "n2", type: "task", tool: "counting:add" },
    ];
    expect(answer.dag).toMatchObject({ nodes, path: ["n1", "d1", "n2"] });
    const kept = await runJson<{ graph: unknown }>(["graph", answer.capabilityName], { home: scene.home.path });
    expect(kept.graph).toMatchObject({ nodes });
  });

  test("[S2-AC2] [S2-AC6] [S2-AC10] [S2-T1] the same program is the same capability, and runs by name, also after a restart", async () => {
    await using scene = await openScene();
    const code = `const size: number = args.size ?? 3; // three by default
      return await mcp.counting.list({ length: size })`;
    const reformatted = `const size = args.size ?? 3;
      return await mcp.counting.list({
        length: size,
      });`;
    let name = "";
    {
      await using connected = await connectClient(scene.home.path);
      const first = await execute(connected.client, { code });
      const second = await execute(connected.client, { code: reformatted });
      expect(second.capabilityId).toBe(first.capabilityId);
      name = first.capabilityName;
    }
    await restart(scene);
    await using connected = await connectClient(scene.home.path);
    const called = await execute(connected.client, { capability: name, args: { size: 2 } });
    expect(called).toMatchObject({ status: "success", mode: "call_by_name", result: { items: [0, 1] } });
    const defaults = await execute(connected.client, { capability: name });
    expect(defaults.result).toEqual({ items: [0, 1, 2] });
    const { usage } = await runJson<{ usage: { count: number; successes: number } }>(["graph", name], {
      home: scene.home.path,
    });
    expect(usage).toEqual({ count: 4, successes: 4 });
  });

  test("a kill right after the answers loses none of them and counts none twice", async () => {
    await using scene = await openScene();
    const { home } = scene;
    await using connected = await connectClient(home.path);
    const code = "return await mcp.counting.list({ length: args.length })";
    const { capabilityName: name } = await execute(connected.client, { code, args: { length: 1 } });
    const runs = Array.from({ length: 24 }, (_, length) => execute(connected.client, { code, args: { length } }));
    const answers = await Promise.all(runs);
    process.kill(home.daemonPid, "SIGKILL");
    await runJson(["up"], { home: home.path });
    const { usage } = await runJson<{ usage: unknown }>(["graph", name], { home: home.path });
    expect(usage).toEqual({ count: 25, successes: 25 });
    const listed = await runJson<{ id: string }[]>(["runs", "--limit", "100"], { home: home.path });
    const kept = new Set(listed.map(({ id }) => id));
    expect(answers.filter(({ workflowId }) => !kept.has(workflowId))).toEqual([]);
  });

  test("a program that is killed between its calls goes on after a restart, and does nothing twice", async () => {
    await using scene = await openScene();
    const { home } = scene;
    await using connected = await connectClient(home.path);
    const code = `await mcp.counting.add({ key: args.key + " before" }); await mcp.counting.read({ key: args.key });
      await mcp.counting.slow({ ms: args.ms }); return await mcp.counting.add({ key: args.key + " after" })`;
    // Makes the second run an ordinary one: the first run of a program is stored synchronously.
    await execute(connected.client, { code, args: { key: "first", ms: 1 } });
    const cut = execute(connected.client, { code, args: { key: "second", ms: 3_000 } }).catch(() => undefined);
    // Kill only after the answer is journalled; before that, the call would be ambiguous and need a person.
    await until("the first half is done", () => scene.happened().includes("read second"));
    process.kill(home.daemonPid, "SIGKILL");
    await cut;
    await runJson(["up"], { home: home.path });
    await until("the second half is done", () => scene.happened().includes("add second after"));
    const adds = scene.happened().filter((line) => line.startsWith("add second"));
    expect(adds).toEqual(["add second before", "add second after"]);
    const states = async (): Promise<string[]> =>
      (await runJson<{ state: string }[]>(["runs"], { home: home.path })).map(({ state }) => state);
    await expect.poll(states).toEqual(["succeeded", "succeeded"]);
  });

  test("[S2-N2] [S2-AC9] [S2-T4] [10.7-AC8] what does not exist, does not parse or fails is an error with its place", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    const { client } = connected;
    const missing = await execute(client, { capability: "non-existent" });
    expect(missing).toMatchObject({ status: "error", isError: true });
    expect(missing.error?.message).toBe("Capability not found: non-existent");
    const broken = await execute(client, { code: "const a = 1;\nconst b = ;\nreturn a" });
    expect(broken.error).toMatchObject({ code: "syntax_error", line: 2 });
    const failing = await execute(client, { code: "const x: any = null;\n\nreturn x.y;" });
    expect(failing.error).toMatchObject({ line: 3 });
    expect(failing.error?.message).toContain("null");
    const tool = await execute(client, { code: `await mcp.counting.fail({ key: "luck" })` });
    expect(tool.error?.message).toContain("no luck");
    const unknown = await execute(client, { code: `await mcp.counting.lst({ length: 1 })` });
    expect(unknown.error?.message).toContain("did you mean counting:list?");
    const both = await execute(client, { code: "return 1", capability: "x" });
    expect(both.error?.message).toContain("at most one of code and capability");
  });

  test("[PRD-trace] calls in Promise.all run in parallel, and the trace says what ran", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    const answer = await execute(connected.client, {
      code: `return await Promise.all([1, 2, 3, 4].map((n) => mcp.counting.slow({ ms: 500 + n })))`,
    });
    expect(answer.status).toBe("success");
    const done = answer.result as { waited: number; together: number }[];
    expect(done.map(({ waited }) => waited)).toEqual([501, 502, 503, 504]);
    expect(Math.max(...done.map(({ together }) => together))).toBe(4);
    expect(answer.tasks.map(({ id }) => id)).toEqual(["n1@l1:0", "n1@l1:1", "n1@l1:2", "n1@l1:3"]);
  });

  test("[10.1-AC12] [E10-M6] capabilities call capabilities, and that is kept after a restart", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    const { client } = connected;
    const inner = await execute(client, {
      code: `return (await mcp.counting.list({ length: args.length })).items.length`,
      args: { length: 2 },
      name: "util:count_up",
    });
    expect(inner.capabilityName).toBe("util:count_up");
    const outer = await execute(client, {
      code: `const a = await capabilities.util.count_up({ length: 4 }); return a + 1;`,
    });
    expect(outer).toMatchObject({ status: "success", result: 5 });
    expect(outer.dag.nodes).toMatchObject([{ id: "n1", type: "capability", capability: "util:count_up" }]);
    await restart(scene);
    const shown = await runJson<{ dependencies: string[] }>(["graph", outer.capabilityName], {
      home: scene.home.path,
    });
    expect(shown.dependencies).toEqual(["util:count_up"]);
  });
});

describe("dags", () => {
  const dag = {
    tasks: [
      { id: "list", tool: "counting:list", arguments: { length: { $ref: "args.length" } } },
      { id: "note", tool: "counting:add", arguments: { key: "dag" }, depends_on: ["list"] },
      { id: "maybe", tool: "counting:fail", arguments: { key: "x" }, safe_to_fail: true },
    ],
  };

  test("[E10-P2] [10.5-AC6] [10.5-AC10] [10.5-AC12] a DAG runs and becomes a capability of its own kind", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    const answer = await execute(connected.client, { dag, args: { length: 2 }, name: "util:listing" });
    expect(answer).toMatchObject({ status: "success", mode: "dag", result: { note: { count: 1 }, maybe: null } });
    await restart(scene);
    const kept = await runJson<{ source: { type: string } }>(["graph", "util:listing"], { home: scene.home.path });
    expect(kept.source).toMatchObject({ type: "dag", dagStructure: { tasks: [{ id: "list" }, { id: "note" }, {}] } });
    await using again = await connectClient(scene.home.path);
    const second = await execute(again.client, { capability: "util:listing", args: { length: 1 } });
    expect(second.result).toEqual({ note: { count: 2 }, maybe: null });
  });

  test("[10.7-AC6] layers stop one after the other and go on where they stopped, also after a restart", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    const first = await execute(connected.client, {
      dag,
      args: { length: 1 },
      options: { per_layer_validation: true },
    });
    expect(first.status).toBe("layer_complete");
    expect(first.tasks.map(({ id }) => id).toSorted()).toEqual(["list", "maybe"]);
    expect(scene.happened()).toEqual([]);
    await restart(scene);
    await using again = await connectClient(scene.home.path);
    const second = await execute(again.client, { continue_workflow: { workflow_id: first.workflowId } });
    expect(second).toMatchObject({ status: "success", result: { note: { count: 1 }, maybe: null } });
    expect(scene.happened()).toEqual(["add dag"]);
    const other = await execute(again.client, { dag, args: { length: 1 }, options: { per_layer_validation: true } });
    const ended = await execute(again.client, {
      continue_workflow: { workflow_id: other.workflowId, approved: false },
    });
    expect(ended.error?.code).toBe("cancelled");
    expect(scene.happened()).toEqual(["add dag"]);
  });
});

describe("results of tasks", () => {
  test("[10.8-AC1] [10.8-AC2] [10.8-AC3] [10.8-AC4] [10.8-AC6] [10.8-AC7] are kept whole and read in pages, also after a restart", async () => {
    await using scene = await openScene();
    let workflow = "";
    {
      await using connected = await connectClient(scene.home.path);
      const answer = await execute(connected.client, { code: `await mcp.counting.list({ length: 5000 }); return 1` });
      workflow = answer.workflowId;
      expect(answer.tasks[0]?.resultPreview).toHaveLength(240);
    }
    await restart(scene);
    await using connected = await connectClient(scene.home.path);
    const page = async (offset: number, format: string) => {
      const { content } = await connected.client.callTool({
        name: "pml_get_task_result",
        arguments: { workflow_id: workflow, task_id: "n1", offset, limit: 1000, format },
      });
      return content.map((block) => (block.type === "text" ? block.text : ""));
    };
    let whole = "";
    for (let offset: number | null = 0; offset !== null;) {
      const [about = "", text = ""] = await page(offset, "raw");
      whole += text;
      offset = (JSON.parse(about) as { next_offset: number | null }).next_offset;
    }
    expect(JSON.parse(whole)).toEqual({ items: Array.from({ length: 5000 }, (_, index) => index) });
    const [, pretty = ""] = await page(0, "pretty");
    expect(pretty.startsWith('{\n  "items": [\n')).toBe(true);
  });

  test("[10.8-AC5] [10.8-AC8] expire, and say when", async () => {
    await using scene = await openScene({ ...ALLOW_COUNTING, results: { ttlSeconds: 1 } });
    await using connected = await connectClient(scene.home.path);
    const { workflowId } = await execute(connected.client, { code: `return await mcp.counting.list({ length: 1 })` });
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    const late = await connected.client.callTool({
      name: "pml_get_task_result",
      arguments: { workflow_id: workflowId, task_id: "n1" },
    });
    expect(late.isError).toBe(true);
    expect(JSON.stringify(late.content)).toMatch(/expired/);
  });
});
