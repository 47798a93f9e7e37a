/** Limits per caller: each is enforced, named, counted, and released again. */
import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { exportedRows } from "../support/exported-rows.ts";
import { call, type GatewayHome, startGateway, type TextResult } from "../support/gateway-home.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { until } from "../support/pml.ts";
import {
  addressOf,
  currentRequest,
  initializeRequest,
  openRawStream,
  type RawAnswer,
  type RawRequest,
  sendRaw,
} from "../support/raw-http.ts";
import { servers } from "../support/upstream-servers.ts";

const limits = { concurrentRequests: 3, sessions: 2, streams: 2, subscriptions: 2 };
const config = { limits, http: { maxBodyBytes: 10_000 } };

async function startLimited(): Promise<GatewayHome> {
  const home = await startGateway({ chaos: servers.chaos("a"), fixture: servers.fixture() }, { config });
  await home.ready("chaos", "fixture");
  return home;
}

async function refusals(home: GatewayHome): Promise<Record<string, number>> {
  const { url, authorization } = addressOf(home.path);
  const { text } = await sendRaw(url, { method: "GET", path: "/metrics", headers: { authorization } });
  const lines = [...text.matchAll(/^pml_limit_refusals_total\{limit="([^"]+)"\} (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, limit, count]) => [limit, Number(count)]));
}

async function hangThree(home: GatewayHome, client: Client): Promise<() => Promise<void>> {
  const abort = new AbortController();
  const calls = [1, 2, 3].map(() => call(client, "chaos__hang", {}, { signal: abort.signal }));
  const inFlight = async (): Promise<number> =>
    ((await home.server("chaos")) as unknown as { inFlight: number }).inFlight;
  await until("three calls are under way", async () => (await inFlight()) === 3);
  return async () => {
    abort.abort();
    await Promise.allSettled(calls);
    await until("none is under way", async () => (await inFlight()) === 0);
  };
}

function echo(client: Client): Promise<TextResult> {
  return call(client, "chaos__echo", { text: "hi" });
}

test("requests under way at once [mcp-40]", async () => {
  await using home = await startLimited();
  await using other = await connectClient(home.path);
  for (const kind of clientKinds) {
    await using connected = await connectClient(home.path, kind);
    const letGo = await hangThree(home, connected.client);
    await expect(echo(connected.client)).rejects.toThrow("limits.concurrentRequests (3)");
    // each stdio connection has its own limit, and so does each HTTP principal
    expect(await echo(other.client)).toMatchObject({ text: "a: hi" });
    await letGo();
    expect(await echo(connected.client)).toMatchObject({ text: "a: hi" });
  }
  expect(await refusals(home)).toEqual({ "limits.concurrentRequests": 4 });

  // over stdio the call is refused, and recorded as refused
  await until("both refused calls are on record", async () => {
    const rows = await exportedRows(home.path, "tool_usage");
    return rows.filter(({ tool_name, outcome }) => tool_name === "echo" && outcome === "refused").length === 2;
  });
});

function refused(key: string, value: number): Pick<RawAnswer, "status" | "text"> {
  const text = new RegExp(`^{"jsonrpc":"2.0".*${key} \\(${value}\\).*"limit":"${key}"`);
  return { status: 429, text: expect.stringMatching(text) as string };
}

test("sessions, streams and bodies over HTTP [mcp-40]", async () => {
  await using home = await startLimited();
  const { url, authorization } = addressOf(home.path);
  const send = (request: RawRequest): Promise<RawAnswer> =>
    sendRaw(url, { ...request, headers: { ...request.headers, authorization } });
  const listen = currentRequest("subscriptions/listen", { notifications: { toolsListChanged: true } });
  const open = (request: RawRequest) =>
    openRawStream(url, { ...request, headers: { ...request.headers, authorization } });
  const initialize = initializeRequest("2025-11-25");
  const first = await send(initialize);
  const session = { "mcp-session-id": String(first.headers["mcp-session-id"]) };
  expect((await send(initialize)).status).toBe(200);
  expect(await send(initialize)).toMatchObject(refused("limits.sessions", 2));
  // a session that the SDK refuses does not count
  expect((await send({ method: "DELETE", headers: session })).status).toBe(200);
  expect((await send({ ...initialize, headers: { accept: "text/html" } })).status).toBe(406);
  const again = await send(initialize);
  expect(again.status).toBe(200);

  const later = { "mcp-session-id": String(again.headers["mcp-session-id"]) };
  {
    using stream = await open({ method: "GET", headers: later });
    using _listening = await open(listen);
    expect(stream.status).toBe(200);
    expect(await send(listen)).toMatchObject(refused("limits.streams", 2));
    expect(await send({ method: "GET", headers: later })).toMatchObject(refused("limits.streams", 2));
    const metrics = await send({ method: "GET", path: "/metrics" });
    expect(metrics.text).toMatch(/^pml_http_sessions 2$/m);
    expect(metrics.text).toMatch(/^pml_http_streams 2$/m);
  }
  await until("the streams are closed", async () => {
    using stream = await open(listen);
    return stream.status === 200;
  });

  const body = { ...currentRequest("tools/list").body, padding: "x".repeat(2_000_000) };
  const large = await send({ ...currentRequest("tools/list"), body });
  expect(large.status).toBe(413);
  expect(JSON.parse(large.text)).toMatchObject({
    error: { message: "The body is too large. The limit is http.maxBodyBytes (10000)", data: { value: 10_000 } },
  });
  expect(await refusals(home)).toMatchObject({ "limits.sessions": 1, "http.maxBodyBytes": 1 });
});

const uris = ["static-text", "static-binary", "watched-resource"].map((name) => `pml+fixture:test://${name}`);
const [first = "", second = "", third = ""] = uris;

test("watched resources of a session or connection [mcp-40]", async () => {
  await using home = await startLimited();
  for (const kind of clientKinds.filter(({ era }) => era === "legacy")) {
    await using connected = await connectClient(home.path, kind);
    const { client } = connected;
    await client.subscribeResource({ uri: first });
    await client.subscribeResource({ uri: second });
    await client.subscribeResource({ uri: second });
    await expect(client.subscribeResource({ uri: third })).rejects.toThrow("limits.subscriptions (2)");
    await client.unsubscribeResource({ uri: first });
    await client.subscribeResource({ uri: third });
  }
  expect(await refusals(home)).toEqual({ "limits.subscriptions": 2 });
});

test("streams and what they watch", async () => {
  await using home = await startLimited();
  for (const kind of clientKinds.filter(({ era }) => era === "auto")) {
    await using connected = await connectClient(home.path, kind);
    const { client } = connected;
    // one stream is already open: the client listens for tool changes
    await expect(client.listen({ resourceSubscriptions: uris })).rejects.toThrow("limits.subscriptions (2)");
    const stream = await client.listen({ resourceSubscriptions: [first, second] });
    await expect(client.listen({ resourceSubscriptions: [first] })).rejects.toThrow("limits.streams (2)");
    await stream.close();
    await until("a stream may be opened again", () =>
      client.listen({ resourceSubscriptions: [first] }).then(
        () => true,
        () => false,
      ),
    );
  }
  expect(await refusals(home)).toMatchObject({ "limits.subscriptions": 2 });
});
