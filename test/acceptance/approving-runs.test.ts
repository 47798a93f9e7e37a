import { setTimeout as sleep } from "node:timers/promises";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../support/databases.ts";
import { approve } from "../support/decide.ts";
import { execute } from "../support/execute.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { allowsForms, connectClient, shimKinds } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

interface Scene extends AsyncDisposable {
  readonly home: GatewayHome;
  happened(): string[];
}

async function openScene(config: Record<string, unknown> = {}): Promise<Scene> {
  const work = await makeFolder();
  const file = join(work.path, "calls.txt");
  writeFileSync(file, "");
  const home = await startGateway({ counting: servers.counting(file) }, { config });
  await home.ready("counting");
  return {
    home,
    happened: () => readFileSync(file, "utf8").split("\n").filter(Boolean),
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await work[Symbol.asyncDispose]();
    },
  };
}

const WRITES = `const { count } = await mcp.counting.add({ key: "asked" }); return count;`;

describe("a program that writes", () => {
  test("[10.1-AC8] [E10-FR1c] [E10-M5] waits for a person, across a restart, and then runs once", async () => {
    await using scene = await openScene();
    const home = scene.home.path;
    let workflow = "";
    {
      await using connected = await connectClient(home);
      const asked = await execute(connected.client, { intent: "note something", code: WRITES });
      expect(asked).toMatchObject({ status: "approval_required", isError: false });
      expect(asked.approval).toMatchObject({ tools: ["counting:add"] });
      expect(asked.approval?.url).toMatch(new RegExp(`^http://127.0.0.1:\\d+/approvals/${asked.approval?.id}$`));
      expect(JSON.stringify(asked)).not.toContain("pml approve");
      workflow = asked.workflowId;
      const still = await execute(connected.client, { continue_workflow: { workflow_id: workflow } });
      expect(still.status).toBe("approval_required");
    }
    expect(scene.happened()).toEqual([]);
    const [item] = await runJson<{ id: string; intent: string }[]>(["inbox"], { home });
    expect(item?.intent).toBe("note something");
    await runPml(["down"], { home });
    await approve(home, item?.id);
    await using connected = await connectClient(home);
    const done = await execute(connected.client, { continue_workflow: { workflow_id: workflow } });
    expect(done).toMatchObject({ status: "success", result: 1 });
    const again = await execute(connected.client, { continue_workflow: { workflow_id: workflow } });
    expect(again).toMatchObject({ status: "success", result: 1 });
    expect(scene.happened()).toEqual(["add asked"]);
  });

  test.each(shimKinds)(
    "is asked about through a client that a person allowed, over $transport ($era)",
    async (kind) => {
      await using scene = await openScene(allowsForms);
      await using yes = await connectClient(scene.home.path, {
        ...kind,
        answer: { action: "accept", content: { answer: "once" } },
      });
      expect(await execute(yes.client, { code: WRITES })).toMatchObject({ status: "success", result: 1 });
      expect(yes.questions[0]).toContain("counting:add");
      await using no = await connectClient(scene.home.path, {
        ...kind,
        answer: { action: "accept", content: { answer: "refuse", reason: "not today" } },
      });
      const other = await execute(no.client, { code: `await mcp.counting.put({ key: "x" })` });
      expect(other).toMatchObject({ status: "error", error: { code: "approval_refused" } });
      expect(other.error?.message).toContain("not today");
      await using nobody = await connectClient(scene.home.path, { ...kind, answer: { action: "decline" } });
      const declined = await execute(nobody.client, { code: `await mcp.counting.put({ key: "y" })` });
      expect(declined.status).toBe("approval_required");
      expect(scene.happened().filter((line) => line.startsWith("put"))).toEqual([]);
    },
  );

  test("stops what it called elsewhere too, and nothing of that happens twice", async () => {
    await using scene = await openScene({ permissions: { allow: ["counting:add"], ask: ["counting:drop"] } });
    const home = scene.home.path;
    await using connected = await connectClient(home);
    const { client } = connected;
    // a dynamic call is asked about only when it is made
    const left = { code: `return await mcp.counting[args.tool]({ key: "left" })`, args: { tool: "drop" } };
    const approveAll = async (asked: Awaited<ReturnType<typeof execute>>): Promise<typeof asked> => {
      if (asked.status !== "approval_required") return asked;
      await approve(home, asked.approval?.id);
      return approveAll(await execute(client, { continue_workflow: { workflow_id: asked.workflowId } }));
    };
    const learned = await approveAll(await execute(client, { ...left, name: "util:left" }));
    expect(learned).toMatchObject({ status: "success", capabilityName: "util:left" });
    const slow = `await mcp.counting.slow({ ms: args.ms }); return await mcp.counting.add({ key: "right" + args.n })`;
    await execute(client, { code: slow, args: { n: 0, ms: 1 }, name: "util:right" });
    const asked = await execute(client, {
      code: `return await Promise.all([capabilities.util.left({ tool: "drop" }), capabilities.util.right({ n: 1, ms: 2_500 })])`,
    });
    expect(asked).toMatchObject({ status: "approval_required" });
    await sleep(3_500);
    expect(scene.happened()).not.toContain("add right1");
    expect(await approveAll(asked)).toMatchObject({ status: "success" });
    expect(scene.happened().filter((line) => line === "add right1")).toHaveLength(1);
  });

  test("can be allowed for good, for this very program only", async () => {
    await using scene = await openScene();
    const home = scene.home.path;
    await using connected = await connectClient(home);
    const asked = await execute(connected.client, { code: WRITES });
    await approve(home, asked.approval?.id, { remember: true });
    await execute(connected.client, { continue_workflow: { workflow_id: asked.workflowId } });
    expect(await execute(connected.client, { code: WRITES })).toMatchObject({ status: "success", result: 2 });
    const edited = await execute(connected.client, { code: WRITES.replace("asked", "edited") });
    expect(edited.status).toBe("approval_required");
    expect(await runJson<unknown[]>(["rules"], { home })).toHaveLength(1);
  });
});

describe("rules", () => {
  test("[10.1-AC5] a computed name is asked about before the program runs, even where every tool only reads", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    const read = await execute(connected.client, { code: `return await mcp.counting.read({ key: "plain" });` });
    expect(read.status).toBe("success");
    const code = `await mcp.counting.read({ key: "before" });
      const name = "re" + args.rest; return await mcp.counting[name]({ key: "computed" });`;
    const computed = await execute(connected.client, { code, args: { rest: "ad" } });
    expect(computed.status).toBe("approval_required");
    expect(scene.happened()).toEqual(["read plain"]);
  });

  test("[E10-FR1b] a denied tool stops the program before it runs, and inside it cannot be reached by a computed name", async () => {
    await using scene = await openScene({
      permissions: { deny: ["counting:add"], allow: ["counting:list"] },
      ...allowsForms,
    });
    await using connected = await connectClient(scene.home.path, {
      answer: { action: "accept", content: { answer: "once" } },
    });
    const plain = await execute(connected.client, { code: WRITES });
    expect(plain).toMatchObject({ status: "error", error: { code: "permission_denied" } });
    const sneaky = await execute(connected.client, {
      code: `const name = "a" + "dd".slice(0, args.n); return await mcp.counting[name]({ key: "sneaky" });`,
      args: { n: 2 },
    });
    expect(sneaky.error?.message).toContain("counting:add");
    expect(scene.happened()).toEqual([]);
  });

  test("a broken permissions file denies everything, and says where it is broken", async () => {
    await using scene = await openScene({ permissions: { allow: ["counting:*"] } });
    const file = join(scene.home.path, "mcp-permissions.yaml");
    writeFileSync(file, "counting: [oops\n");
    await runPml(["down"], { home: scene.home.path });
    await using connected = await connectClient(scene.home.path);
    const refused = await execute(connected.client, { code: `return await mcp.counting.list({ length: 1 })` });
    expect(refused).toMatchObject({ status: "error", error: { code: "permission_denied" } });
    expect(refused.error?.message).toContain("mcp-permissions.yaml");
  });

  test("no tool an agent can call decides anything", async () => {
    await using scene = await openScene();
    await using connected = await connectClient(scene.home.path);
    const { client } = connected;
    const asked = await execute(client, { code: WRITES });
    const id = asked.approval?.id ?? "";
    const { tools } = await client.listTools();
    for (const { name } of tools) {
      for (const input of [
        { id, decision: "approve" },
        { intent: `approve ${id}`, continue_workflow: { workflow_id: asked.workflowId, approved: true } },
        { intent: `approve ${id}`, approval: id },
      ]) {
        await client.callTool({ name, arguments: input }).catch(() => undefined);
      }
    }
    const [item] = await runJson<{ state: string }[]>(["inbox"], { home: scene.home.path });
    expect(item?.state).toBe("pending");
    expect(scene.happened()).toEqual([]);
  });
});
