/** Tools whose server says nothing about them, and the one time a person is asked about that. */
import { expect, test } from "vitest";
import { routes } from "../../src/contract/routes.ts";
import { callDaemon } from "../../src/daemon/daemon-client.ts";
import { approve, reachAsPerson } from "../support/decide.ts";
import { execute, type Executed } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";
import { runInTerminal, YES } from "../support/pty.ts";
import { CLAIMS, type ListedTool, tool, Turncoat } from "../support/turncoat.ts";

interface Scene extends AsyncDisposable {
  readonly home: GatewayHome;
  readonly server: Turncoat;
  run(name: string): Promise<Executed>;
}

async function openScene(...tools: readonly ListedTool[]): Promise<Scene> {
  const stack = new AsyncDisposableStack();
  const { path } = stack.use(await makeFolder());
  const server = new Turncoat(path, "crm", undefined);
  server.list(...tools);
  const home = stack.use(await startGateway({ crm: server.entry }));
  await home.ready("crm");
  const { client } = stack.use(await connectClient(home.path));
  return {
    home,
    server,
    run: (name) => execute(client, { code: `return await mcp.crm.${name}({})` }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const LIST = tool("list_orders", undefined, "List all open orders.");
const WIPE = tool("wipe_orders", undefined, "Get rid of orders.");

test("tools that seem to read are proposed when a person confirms a server, and run unasked from then on", async () => {
  await using scene = await openScene(LIST, WIPE);
  const { home, server } = scene;
  const options = { home: home.path };
  const asked = await scene.run("list_orders");
  expect(asked).toMatchObject({ status: "approval_required", approval: { tools: ["crm:list_orders"] } });
  const shown = await runPml(["inbox", asked.approval?.id ?? ""], options);
  expect(shown.stdout).toContain("its name and text do: it only reads; to confirm that: pml hints crm --trust");

  const before = await runJson<{ tools: unknown }>(["hints", "crm"], options);
  expect(before.tools).toMatchObject({ proposed: ["list_orders"], destructive: ["wipe_orders", "mark_2"] });
  const confirmed = await runInTerminal(["hints", "crm", "--trust"], options, [YES]);
  expect(confirmed.screen).toMatch(/seem to only read[^\n]* {2}list_orders/);
  expect(confirmed.code).toBe(0);
  expect((await scene.run("list_orders")).status).toBe("success");
  expect((await scene.run("wipe_orders")).status).toBe("approval_required");
  expect(server.called()).toEqual(["list_orders"]);

  await runPml(["down"], options);
  await runJson(["up"], options);
  await home.ready("crm");
  await using later = await connectClient(home.path);
  const again = await execute(later.client, { code: "return await mcp.crm.list_orders({})" });
  expect(again.status).toBe("success");
  const after = await runJson<{ tools: unknown }>(["hints", "crm"], options);
  expect(after.tools).toMatchObject({ confirmed: ["list_orders"] });
});

test("a confirmation holds for the definition that was shown, and ends with the belief in the server", async () => {
  await using scene = await openScene(LIST);
  const { home, server } = scene;
  const person = await reachAsPerson(home.path);
  const hashOf = async (name: string): Promise<string> => {
    const tools = await callDaemon(person, routes.listTools);
    return tools.find(({ id }) => id === `crm:${name}`)?.seemsToRead?.hash ?? "";
  };
  const trust = async (reads: Record<string, string>): Promise<unknown> =>
    callDaemon(person, routes.trustHints, { body: { server: "crm", trust: true, reads } });
  const hash = await hashOf("list_orders");
  await expect(trust({ list_orders: "0".repeat(64) })).rejects.toThrow("is not the one that was shown");
  await expect(trust({ mark_2: await hashOf("mark_2") })).rejects.toThrow("is not the one that was shown");
  await trust({ list_orders: hash });
  expect((await scene.run("list_orders")).status).toBe("success");

  await server.define(home.path, tool("list_orders", undefined, "List all open orders, and returns them."));
  expect((await scene.run("list_orders")).status).toBe("approval_required");
  await server.define(home.path, LIST);
  expect((await scene.run("list_orders")).status).toBe("success");
  await callDaemon(person, routes.trustHints, { body: { server: "crm", trust: false } });
  expect((await scene.run("list_orders")).status).toBe("approval_required");
  expect(server.called()).toEqual(["list_orders", "list_orders"]);
});

test("after one always, a writing capability asks no more when it is called by name, and one that destroys always does", async () => {
  await using scene = await openScene(tool("note", CLAIMS.write), tool("shred", CLAIMS.destructive));
  const { home, server } = scene;
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const make = async (name: string, code: string): Promise<void> => {
    const asked = await execute(client, { name, code, args: { key: "first" } });
    expect(asked.status).toBe("approval_required");
    await approve(home.path, asked.approval?.id, { remember: true });
    const done = await execute(client, { continue_workflow: { workflow_id: asked.workflowId } });
    expect(done.status).toBe("success");
  };
  await make("crm:note_down", "await mcp.crm.note({ key: args.key }); return args.key");
  for (const key of ["a", "b"]) {
    expect((await execute(client, { capability: "crm:note_down", args: { key } })).result).toBe(key);
    expect((await execute(client, { capability: "crm:note_down@v1", args: { key } })).result).toBe(key);
    const called = await client.callTool({ name: "cap:crm:note_down", arguments: { key } });
    expect([called.isError === true, called.content]).toEqual([false, [expect.objectContaining({ text: `"${key}"` })]]);
    const run = await runPml(["run", "crm:note_down", "--arg", `key=${key}`], { home: home.path });
    expect([run.code, run.stdout]).toEqual([0, `"${key}"\n`]);
  }
  expect(server.called()).toHaveLength(9);
  const code = "await mcp.crm.note({ key: 'x' }); return args.key";
  const next = await execute(client, { name: "crm:note_down", code, on_conflict: "version", args: { key: "c" } });
  expect(next.status).toBe("approval_required");

  await make("crm:shred_all", "await mcp.crm.shred({ key: args.key }); return args.key");
  const shred = await execute(client, { capability: "crm:shred_all", args: { key: "a" } });
  expect(shred.status).toBe("approval_required");
});
