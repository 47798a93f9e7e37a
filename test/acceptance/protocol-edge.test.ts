/** The edge of the protocol as it is on the wire: eras side by side, discovery, change notices, stdout. */
import type { ChildProcess } from "node:child_process";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { call, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runPml, spawnPml, until } from "../support/pml.ts";
import { addressOf, currentRequest, initializeRequest, openRawStream, sendRaw } from "../support/raw-http.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";
import { Random } from "../support/random.ts";

const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
const LEVELS = ["debug", "info", "warn", "error", "silent"];

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly _meta?: Record<string, unknown>; readonly notifications?: unknown };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number };
}

/** `pml mcp`, by hand. */
function startShim(home: string, env: Record<string, string> = {}): { child: ChildProcess; lines: () => string[] } {
  const child = spawnPml(["mcp"], { home, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { child, lines: () => text.split("\n").slice(0, -1) };
}

async function answerTo(
  shim: ReturnType<typeof startShim>,
  body: { readonly id: unknown; readonly [key: string]: unknown },
): Promise<Message> {
  shim.child.stdin?.write(`${JSON.stringify(body)}\n`);
  const find = (): Message | undefined =>
    shim
      .lines()
      .map((line) => JSON.parse(line) as Message)
      .find(({ id }) => id === body.id);
  await until(`answer ${String(body.id)}`, () => find() !== undefined);
  return find() as Message;
}

function events(text: string): Message[] {
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => JSON.parse(data) as Message);
}

test("one address serves a session of 2025 and requests of the current protocol at the same time", async () => {
  await using home = await startGateway({ chaos: servers.chaos("a") });
  await home.ready("chaos");
  await using old = await connectClient(home.path, { transport: "http", era: "legacy" });
  await using current = await connectClient(home.path, { transport: "http", era: "auto" });
  expect([old.client.getProtocolEra(), current.client.getProtocolEra()]).toEqual(["legacy", "modern"]);
  const slow = call(old.client, "chaos__slow", { ms: 600 });
  const others = await Promise.all([
    call(current.client, "chaos__echo", { text: "1" }),
    call(old.client, "chaos__echo", { text: "2" }),
    current.client.listTools(),
  ]);
  expect(others).toMatchObject([{ text: "a: 1" }, { text: "a: 2" }, { tools: (await old.client.listTools()).tools }]);
  expect(await slow).toMatchObject({ text: "slow, but here" });
});

test("over stdio the first request settles the era", async () => {
  await using home = await startGateway({});
  const { body: initialize } = initializeRequest("2025-11-25");
  const { body: list } = currentRequest("tools/list");
  const modern = startShim(home.path);
  expect(await answerTo(modern, { ...list, id: 1 })).toMatchObject({
    result: { resultType: "complete", tools: [{}, {}, {}] },
  });
  expect(await answerTo(modern, { ...initialize, id: 2 })).toMatchObject({ error: { code: -32_022 } });
  const old = startShim(home.path);
  expect(await answerTo(old, { ...initialize, id: 1 })).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  old.child.stdin?.write(`${JSON.stringify(INITIALIZED)}\n`);
  const { result } = await answerTo(old, { ...list, id: 2 });
  expect(result).toMatchObject({ tools: [{}, {}, {}] });
  expect(result).not.toHaveProperty("resultType");
});

test("discovery says what is spoken, and an unknown version is negotiated", async () => {
  await using home = await startGateway({});
  const { url, authorization } = addressOf(home.path);
  const send = async ({ headers, body }: ReturnType<typeof currentRequest>): Promise<Message> => {
    const { text } = await sendRaw(url, { headers: { ...headers, authorization }, body });
    return (text.startsWith("{") ? JSON.parse(text) : events(text)[0]) as Message;
  };
  const expected = {
    supportedVersions: expect.arrayContaining(["2026-07-28"]) as string[],
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, completions: {} },
  };
  expect((await send(currentRequest("server/discover"))).result).toMatchObject(expected);
  const shim = startShim(home.path);
  expect((await answerTo(shim, currentRequest("server/discover").body)).result).toMatchObject(expected);
  for (const [asked, given] of [
    ["1999-01-01", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
  ] as const) {
    expect((await send(initializeRequest(asked))).result).toMatchObject({ protocolVersion: given });
  }
  const { headers, body } = currentRequest("tools/list");
  const future = { ...headers, "mcp-protocol-version": "2099-01-01", authorization };
  const meta = { ...(body.params as { _meta: object })._meta, "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  const refused = await sendRaw(url, { headers: future, body: { ...body, params: { _meta: meta } } });
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([400, { error: { code: -32_022 } }]);
});

test("changes are told on the stream of a session, and to whoever listens; both end with the gateway", async () => {
  await using home = await startGateway({ chaos: servers.chaos("a") });
  await home.ready("chaos");
  const { url, authorization } = addressOf(home.path);
  const begun = await sendRaw(url, { ...initializeRequest("2025-11-25"), headers: { authorization } });
  const session = { authorization, "mcp-session-id": String(begun.headers["mcp-session-id"]) };
  await sendRaw(url, { headers: session, body: INITIALIZED });
  using stream = await openRawStream(url, { method: "GET", headers: session });
  const listen = currentRequest("subscriptions/listen", { notifications: { toolsListChanged: true } });
  using listening = await openRawStream(url, {
    headers: { ...listen.headers, authorization },
    body: { ...listen.body, id: "sub-7" },
  });
  await until("it is acknowledged", () => events(listening.text()).length > 0);

  const changed = "notifications/tools/list_changed";
  writeConfig(home.path, { mcpServers: { other: servers.chaos("b") } });
  await until("the session is told", () => events(stream.text()).some(({ method }) => method === changed));
  await until("the listener is told", () => events(listening.text()).some(({ method }) => method === changed));
  await runPml(["down"], { home: home.path });
  await Promise.all([stream.ended, listening.ended]);

  const heard = events(listening.text());
  expect(heard[0]).toMatchObject({
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { toolsListChanged: true } },
  });
  expect(heard.at(-1)).toMatchObject({ id: "sub-7", result: { resultType: "complete" } });
  for (const { params, result } of heard) {
    const meta = params?._meta ?? (result?.["_meta"] as Record<string, unknown>);
    expect(meta["io.modelcontextprotocol/subscriptionId"]).toBe("sub-7");
  }
});

/** Sends bytes as they are; resolves with the first line of what comes back. */
function sendBytes(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
    socket.once("error", reject);
    socket.once("close", () => resolve(answer.split("\r\n")[0] ?? ""));
  });
}

test("requests that no client would send are refused, and the gateway lives on", async () => {
  await using home = await startGateway({});
  const { url, authorization } = addressOf(home.path);
  const end = "Connection: close\r\n\r\n";
  for (const path of ["//", "http://[", "*", "http://a:99999/", "/\\\\"]) {
    expect(await sendBytes(url, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${end}`), path).toMatch(/^HTTP\/1.1 40\d /);
  }
  expect(await sendBytes(url, `GET /metrics HTTP/1.1\r\n${end}`)).toMatch(/^HTTP\/1.1 40\d /);
  const upgrade = "Connection: Upgrade\r\nUpgrade: pml-stdio\r\n\r\n";
  expect(await sendBytes(url, `GET // HTTP/1.1\r\nHost: 127.0.0.1\r\n${upgrade}`)).toBe("HTTP/1.1 401 Unauthorized");
  const { headers, body } = currentRequest("tools/list");
  for (const host of ["127.0.0.1:99999999", "127.0.0.1:0"]) {
    const strange = { ...headers, authorization, host };
    expect((await sendRaw(url, { headers: strange, body })).status).toBeLessThan(600);
    expect((await sendRaw(url, { ...initializeRequest("2025-11-25"), headers: strange })).status).toBeLessThan(600);
  }
  for (const odd of [null, 7, "text", [], [null], { id: {} }, { method: "tools/list" }, { params: [] }]) {
    expect((await sendRaw(url, { headers: { ...headers, authorization }, body: odd })).status).toBeLessThan(500);
  }
  expect((await sendRaw(url, { headers: { ...headers, authorization }, body })).status).toBe(200);
});

test("stdout carries messages and nothing else, whatever comes in and whatever is logged", async () => {
  const random = new Random(12);
  const pieces = ["{", "}", '"', "\\", "[", "null", "jsonrpc", ":", "2.0", "\u0000", "é", "\uFFFD", " ", "1e999", ","];
  const noise = (): string =>
    Array.from({ length: random.between(1, 40) }, () => pieces[random.between(0, pieces.length - 1)]).join("");
  const odd = [
    "null",
    "[]",
    "{}",
    `"text"`,
    `{"jsonrpc":"2.0"}`,
    `{"jsonrpc":"2.0","method":7}`,
    `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
    `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`,
    `{"jsonrpc":"2.0","id":99,"result":{}}`,
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":98}}`,
  ];
  await using home = await startGateway({ chaos: servers.chaos("a") });
  for (const level of LEVELS) {
    await runPml(["down"], { home: home.path });
    const shim = startShim(home.path, { PML_LOG_LEVEL: level, PML_DEBUG: "1" });
    const { body: initialize } = initializeRequest("2025-11-25");
    await answerTo(shim, { ...initialize, id: 1 });
    shim.child.stdin?.write(`${JSON.stringify(INITIALIZED)}\n`);
    for (const line of [...odd, ...Array.from({ length: 60 }, noise)]) shim.child.stdin?.write(`${line}\n`);
    const params = { name: "chaos__noise", arguments: {} };
    await answerTo(shim, { jsonrpc: "2.0", id: "noise", method: "tools/call", params });
    await answerTo(shim, { jsonrpc: "2.0", id: "unknown", method: "no/such" });
    const lines = shim.lines().map((line) => JSON.parse(line) as Message);
    expect(
      lines.every(({ jsonrpc }) => jsonrpc === "2.0"),
      level,
    ).toBe(true);
    shim.child.kill("SIGTERM");
  }
});
