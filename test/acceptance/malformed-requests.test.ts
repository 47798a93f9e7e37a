/** Regressions: requests that once ended the daemon, blocked a client, or got a correct one refused. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type DaemonAddress, readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { runPml, until } from "../support/pml.ts";
import { sendBytes } from "../support/wire-http.ts";
import { servers } from "../support/upstream-servers.ts";

interface Post {
  readonly body?: unknown;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

class Endpoint {
  readonly #address: DaemonAddress;
  #session: Record<string, string> = {};

  constructor(home: GatewayHome) {
    const address = readDaemonAddress(home.path);
    if (address === undefined) throw new Error("no daemon runs");
    this.#address = address;
  }

  /** Resolves as soon as the headers have arrived. */
  async begin({ body, method = "POST", headers = {} }: Post): Promise<IncomingMessage> {
    const outgoing = request(new URL("/mcp", this.#address.url), {
      method,
      headers: {
        Authorization: `Bearer ${this.#address.token}`,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...this.#session,
        ...headers,
      },
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return response;
  }

  async send(post: Post): Promise<{ status: number; body: string }> {
    const response = await this.begin(post);
    return { status: response.statusCode ?? 0, body: await text(response) };
  }

  call(id: unknown, name: string, input: object = {}): Promise<{ status: number; body: string }> {
    return this.send({ body: { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: input } } });
  }

  async initialize(headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const response = await this.begin({ body: { jsonrpc: "2.0", id: 0, method: "initialize", params }, headers });
    await text(response);
    const id = response.headers["mcp-session-id"];
    if (typeof id === "string") this.#session = { "Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25" };
    return response.statusCode ?? 0;
  }

  async raw(lines: readonly string[]): Promise<number | undefined> {
    const { host, port } = new URL(this.#address.url);
    const token = `Authorization: Bearer ${this.#address.token}`;
    const bytes = Buffer.from(`${[...lines, `Host: ${host}`, token, "Connection: close"].join("\r\n")}\r\n\r\n`);
    const [answer] = await sendBytes({ port: Number(port), bytes, halfClose: false, patienceMs: 5_000 });
    return answer?.status;
  }
}

async function openEndpoint(home: GatewayHome): Promise<Endpoint> {
  await home.ready("chaos");
  const endpoint = new Endpoint(home);
  expect(await endpoint.initialize()).toBe(200);
  return endpoint;
}

test("a path that is no URL, and methods that MCP does not have, are refused", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  const endpoint = await openEndpoint(home);
  const paths = ["//", "/\\", "http://[/mcp", "/registry/capabilities/%E0%A4%A"];
  for (const path of paths) expect(await endpoint.raw([`GET ${path} HTTP/1.1`])).toBe(404);
  for (const method of ["TRACE", "PUT", "OPTIONS"]) expect(await endpoint.raw([`${method} /mcp HTTP/1.1`])).toBe(405);
  expect(readDaemonAddress(home.path)?.pid).toBe(home.daemonPid);
});

test("a client that offers HTTP/2 is served; only the shim's own request becomes a raw connection", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  const endpoint = await openEndpoint(home);
  const headers = { Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c", "HTTP2-Settings": "AAEAAEAAAAIAAAAA" };
  const body = { jsonrpc: "2.0", id: 1, method: "ping" };
  expect(await endpoint.send({ body, headers })).toMatchObject({ status: 200 });
  const shim = { Connection: "Upgrade", Upgrade: "pml-stdio" };
  expect(await endpoint.send({ body, headers: shim })).toMatchObject({ status: 200 });
});

test("a waiting caller is answered when the session ends or the call is cancelled", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  const endpoint = await openEndpoint(home);
  const underWay = (): Promise<void> =>
    until("the call is under way", async () => (await home.server("chaos")).inFlight === 1);
  const cancelled = endpoint.call("c", "chaos__hang");
  await underWay();
  const params = { requestId: "c" };
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params };
  expect(await endpoint.send({ body: cancel })).toMatchObject({ status: 202 });
  expect(await cancelled).toEqual({ status: 200, body: "" });
  const waiting = endpoint.call("w", "chaos__hang");
  await underWay();
  expect(await endpoint.send({ method: "DELETE" })).toMatchObject({ status: 200 });
  expect((await waiting).body).toContain("The session ended before this was answered");
  expect(await endpoint.call("x", "chaos__echo", { text: "x" })).toMatchObject({ status: 404 });
});

test("one id for many requests at once: each is answered, and those that cannot be told apart are refused", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  const endpoint = await openEndpoint(home);
  const answers = await Promise.all(Array.from({ length: 50 }, () => endpoint.call(1, "chaos__echo", { text: "x" })));
  const served = answers.filter(({ status, body }) => status === 200 && body.includes("chaos: x"));
  const refused = answers.filter(({ status, body }) => status === 400 && body.includes("is still under way"));
  expect(served.length).toBeGreaterThan(0);
  expect(served.length + refused.length).toBe(50);
  expect(readDaemonAddress(home.path)?.pid).toBe(home.daemonPid);
});

test("lines that are no messages are answered with an error, under their id where they have one", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  const deep = `{"jsonrpc":"2.0","id":"deep","method":"ping","params":{"x":${"[".repeat(600)}${"]".repeat(600)}}}`;
  const input = ["{", `{"jsonrpc":"2.0","id":7,"method":"ping","params":3}`, "[]", deep, ""].join("\n");
  const { stdout, stderr } = await runPml(["mcp"], { home: home.path, input });
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: unknown; error: { code: number } });
  expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
    [null, -32_700],
    [7, -32_600],
    [null, -32_600],
    ["deep", -32_600],
  ]);
  expect(stderr).toBe("");
});
