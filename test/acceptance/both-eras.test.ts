/** The protocol of 2025 and the current one, side by side. */
import { expect, test } from "vitest";
import { call, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runPml } from "../support/pml.ts";
import { CURRENT, RawMcp, streamMessages } from "../support/raw-mcp.ts";
import { servers } from "../support/upstream-servers.ts";

function meta(message: unknown): unknown {
  return (message as { params: { _meta: object } }).params._meta;
}

test("one address serves sessions of 2025 and requests of today at once; over stdio the first message decides [mcp-3]", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  const raw = new RawMcp(home.path);
  await raw.initialize();
  const echo = { name: "chaos__echo", arguments: { text: "x" } };
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? raw.old("tools/call", echo) : new RawMcp(home.path).current("tools/call", echo),
    ),
  );
  for (const { status, text } of answers) expect([status, text]).toEqual([200, expect.stringContaining("chaos: x")]);
  expect(answers.map(({ message }) => "resultType" in (message.result ?? {}))).toEqual(
    answers.map((_, index) => index % 2 === 1),
  );

  for (const era of ["legacy", "auto"] as const) {
    await using connected = await connectClient(home.path, { era });
    const { client } = connected;
    expect(client.getNegotiatedProtocolVersion()).toBe(era === "legacy" ? "2025-11-25" : CURRENT);
    expect((await call(client, "chaos__echo", { text: era })).text).toBe(`chaos: ${era}`);
  }
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": CURRENT,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const opening = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const lines = [
    { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } },
    { jsonrpc: "2.0", id: 2, method: "initialize", params: opening },
    { jsonrpc: "2.0", id: 3, method: "tools/list", params: { _meta } },
  ];
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const { stdout } = await runPml(["mcp"], { home: home.path, input });
  const outcomes = new Map(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; error?: unknown })
      .map(({ id, error }) => [id, error === undefined]),
  );
  expect([1, 2, 3].map((id) => outcomes.get(id))).toEqual([true, false, true]);
});

test("what the gateway speaks can be asked for, and an unknown version is met with one that it knows [mcp-4]", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  const raw = new RawMcp(home.path);
  const { message } = await raw.current("server/discover");
  expect(message.result).toMatchObject({
    supportedVersions: expect.arrayContaining([CURRENT]),
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, completions: {} },
  });
  expect(message.result?.["capabilities"]).toHaveProperty("tools");
  for (const [asked, agreed] of [
    ["2099-01-01", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2024-11-05", "2024-11-05"],
  ] as const) {
    const { message: answer } = await new RawMcp(home.path).initialize(asked);
    expect([asked, answer.result?.["protocolVersion"]]).toEqual([asked, agreed]);
  }
});

test("news arrive on the GET stream of 2025 and on a subscription of today, which is acknowledged and ended in order [mcp-5]", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  const old = new RawMcp(home.path);
  await old.initialize();
  const headers = { "Mcp-Protocol-Version": "2025-11-25" };
  const stream = streamMessages(await old.fetch({ method: "GET", headers }));
  const raw = new RawMcp(home.path);
  const notifications = { toolsListChanged: true };
  const subscription = streamMessages(await raw.beginCurrent("subscriptions/listen", { notifications }));
  const acknowledged = await subscription.next();
  expect(acknowledged.value).toMatchObject({
    method: "notifications/subscriptions/acknowledged",
    params: { notifications },
  });

  await raw.current("tools/call", { name: "chaos__grow", arguments: {} });
  const changed = { method: "notifications/tools/list_changed" };
  expect((await stream.next()).value).toMatchObject(changed);
  const told = await subscription.next();
  expect(told.value).toMatchObject({ ...changed, params: { _meta: meta(acknowledged.value) } });
  expect(meta(told.value)).toHaveProperty(["io.modelcontextprotocol/subscriptionId"]);

  await runPml(["down"], { home: home.path });
  // The notification about the server's first list may arrive late.
  const rest = await Array.fromAsync(subscription);
  expect(rest.pop()).toMatchObject({ result: expect.anything() });
  for (const notice of [...rest, ...(await Array.fromAsync(stream))]) expect(notice).toMatchObject(changed);
});
