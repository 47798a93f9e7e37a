/** The gateway as an OAuth resource server: access, identity, and isolation. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { principalId } from "../../src/auth/principal.ts";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { makeFolder } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { call } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { currentRequest, initializeRequest, openRawStream } from "../support/raw-http.ts";
import { startRemoteGateway } from "../support/remote-gateway.ts";
import { startRemoteMirror } from "../support/remote-mirror.ts";
import { servers } from "../support/upstream-servers.ts";

const list = currentRequest("tools/list");

test("who gets in, and what the others are told [mcp-38]", async () => {
  await using gateway = await startRemoteGateway({});
  const { issuer, url, send } = gateway;
  const local = readDaemonAddress(gateway.home.path)?.token ?? "";
  const token = await issuer.sign();

  expect((await send(list, token)).status).toBe(200);
  expect((await send({ ...list, headers: { ...list.headers, host: "evil.example" } }, token)).status).toBe(403);
  expect((await send({ ...list, headers: { ...list.headers, origin: "https://evil.example" } }, token)).status).toBe(
    403,
  );

  const stranger = await send(list);
  const metadataUrl = `${url}/.well-known/oauth-protected-resource/mcp`;
  expect(stranger.status).toBe(401);
  expect(stranger.headers["www-authenticate"]).toMatch(/^Bearer .*scope="mcp"/);
  expect(stranger.headers["www-authenticate"]).toContain(`resource_metadata="${metadataUrl}"`);
  for (const path of ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]) {
    const { status, text } = await send({ method: "GET", path });
    expect([status, JSON.parse(text)]).toEqual([
      200,
      expect.objectContaining({ resource: `${url}/mcp`, authorization_servers: [issuer.issuer] }),
    ]);
  }
  const small = await send(list, await issuer.sign({ scope: "other" }));
  expect(small.status).toBe(403);
  expect(small.headers["www-authenticate"]).toMatch(/insufficient_scope.*scope="mcp".*resource_metadata=/);
  expect((await send(list, await issuer.sign({ aud: "https://other.example" }))).status).toBe(401);

  // principals have no access to the owner's routes, and the owner's token does not work from other machines
  for (const path of ["/metrics", "/api/v1/status"]) {
    expect((await send({ method: "GET", path }, token)).status).toBe(401);
    expect((await send({ method: "GET", path }, local)).status).toBe(200);
  }
  expect((await send(list, local)).status).toBe(200);
  const forwarded = { ...list, headers: { ...list.headers, "x-forwarded-for": "203.0.113.9" } };
  expect((await send(forwarded, local)).status).toBe(401);
  expect((await send(forwarded, token)).status).toBe(200);

  const { text } = await send({ method: "GET", path: "/metrics" }, local);
  expect(text).toMatch(/^pml_auth_refusals_total\{reason="invalid_token"\} 3$/m);
  expect(text).toMatch(/^pml_auth_refusals_total\{reason="insufficient_scope"\} 1$/m);
});

test("a client finds its own way to a token, and each call is on record with whom it stands for", async () => {
  await using gateway = await startRemoteGateway(
    { mirror: servers.mirror() },
    { config: { permissions: { allow: ["mirror:*"] } } },
  );
  await gateway.home.ready("mirror");
  const { issuer, url } = gateway;
  const authProvider = new ClientCredentialsProvider({
    clientId: "test-app",
    clientSecret: "secret",
    expectedIssuer: issuer.issuer,
  });
  const client = new Client({ name: "finder", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { authProvider }));
  expect(await call(client, "mirror__meta")).toMatchObject({ isError: false });
  await client.close();

  await using old = await gateway.connect(await issuer.sign({ sub: "grace" }), "legacy");
  expect(await call(old, "mirror__meta")).toMatchObject({ isError: false });
  await expect(call(old, "no__such_tool")).rejects.toThrow("Unknown tool");
  expect(await execute(old, { code: "return await mcp.mirror.meta({})" })).toMatchObject({ status: "success" });
  await using owner = await connectClient(gateway.home.path);
  await call(owner.client, "mirror__meta");

  const ada = principalId(issuer.issuer, "ada");
  const grace = principalId(issuer.issuer, "grace");
  const { path } = gateway.home;
  await until("all calls are on record", async () => (await exportedRows(path, "tool_usage")).length === 6);
  expect(await exportedRows(path, "tool_usage")).toMatchObject([
    { tool_name: "meta", principal_id: ada, client: "finder" },
    { tool_name: "meta", principal_id: grace, client: "remote" },
    { tool_name: "no__such_tool", principal_id: grace, outcome: "refused" },
    { tool_name: "meta", principal_id: grace, client: "remote", run_id: expect.any(String) as string },
    { tool_name: "pml_execute", principal_id: grace },
    { tool_name: "meta", principal_id: null },
  ]);
  const [first] = await exportedRows(path, "audit_log");
  const principal = { subject: "ada", issuer: issuer.issuer, clientId: "test-app", scopes: ["mcp", "other"] };
  expect(first).toMatchObject({ principal_id: ada, details: { principal } });
  expect(await exportedRows(path, "principals")).toHaveLength(2);
});

test("what a caller comes with does not reach a server, and neither does the gateway's environment [mcp-39]", async () => {
  await using remote = await startRemoteMirror();
  const entries = { local: servers.mirror(), remote: { url: remote.url } };
  const env = { SECRET_OF_THE_GATEWAY: "very-secret" };
  await using gateway = await startRemoteGateway(entries, { env, config: { permissions: { allow: ["*"] } } });
  await gateway.home.ready("local", "remote");
  const token = await gateway.issuer.sign();
  for (const era of ["legacy", "auto"] as const) {
    await using client = await gateway.connect(token, era);
    const environment = await call(client, "local__environment");
    expect(environment.text).toContain('"PATH"');
    expect(environment.text).not.toMatch(/very-secret|PML_/);
    const seen = await Promise.all(
      ["local__meta", "remote__meta", "remote__headers"].map((name) => call(client, name)),
    );
    expect(JSON.stringify([environment, seen])).not.toContain(token);
  }
  expect(remote.requests.length).toBeGreaterThan(4);
  expect(JSON.stringify(remote.requests)).not.toContain(token);
  expect(remote.requests.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
});

test("a session, and the answer to a question, belong to the caller that began them", async () => {
  await using gateway = await startRemoteGateway(
    { fixture: servers.fixture("--legacy") },
    { config: { permissions: { allow: ["fixture:*"] } } },
  );
  await gateway.home.ready("fixture");
  const { issuer, send } = gateway;
  const [ada, grace] = [await issuer.sign(), await issuer.sign({ sub: "grace" })];
  const local = readDaemonAddress(gateway.home.path)?.token ?? "";

  const begun = await send(initializeRequest("2025-11-25"), ada);
  const session = { "mcp-session-id": String(begun.headers["mcp-session-id"]) };
  const ping = { headers: session, body: { jsonrpc: "2.0", id: 2, method: "ping" } };
  expect((await send(ping, grace)).status).toBe(404);
  expect((await send(ping, local)).status).toBe(404);
  expect((await send({ method: "DELETE", headers: session }, grace)).status).toBe(404);
  expect((await send(ping, ada)).status).toBe(200);

  const older = new Client({ name: "asked", version: "1.0.0" }, { capabilities: { elicitation: { form: {} } } });
  older.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { word: "hello" } }));
  const requestInit = { headers: { Authorization: `Bearer ${ada}` } };
  await older.connect(new StreamableHTTPClientTransport(new URL("/mcp", gateway.url), { requestInit }));
  expect((await call(older, "fixture__test_streaming_elicitation")).text).toContain("hello");
  await older.close();

  const capable = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
  const ask = currentRequest("tools/call", { name: "fixture__test_streaming_elicitation", arguments: {} });
  const withMeta = (params: object) => ({
    ...ask,
    body: { ...ask.body, params: { ...ask.body.params, ...params, _meta: { ...metaOf(ask.body.params), ...capable } } },
  });
  const asked = JSON.parse((await send(withMeta({}), ada)).text) as {
    result: { requestState: string; inputRequests: Record<string, unknown> };
  };
  const [question = ""] = Object.keys(asked.result.inputRequests);
  const answer = withMeta({
    requestState: asked.result.requestState,
    inputResponses: { [question]: { action: "accept", content: { word: "hello" } } },
  });
  expect(JSON.parse((await send(answer, grace)).text)).toMatchObject({ error: { code: -32_602 } });
  expect(JSON.parse((await send(answer, ada)).text)).toMatchObject({ result: { resultType: "complete" } });
});

function metaOf(params: object): object {
  return (params as { _meta: object })._meta;
}

test("each principal has its own rate; a stream ends with its token", async () => {
  await using gateway = await startRemoteGateway({}, { config: { limits: { requestsPerMinute: 5 } } });
  const { issuer, send, url } = gateway;
  const [ada, grace] = [await issuer.sign(), await issuer.sign({ sub: "grace" })];
  for (const _each of [1, 2, 3, 4, 5]) expect((await send(list, ada)).status).toBe(200);
  const refused = await send(list, ada);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  expect(JSON.parse(refused.text)).toMatchObject({
    jsonrpc: "2.0",
    error: { data: { limit: "limits.requestsPerMinute", value: 5 } },
  });
  expect((await send(list, grace)).status).toBe(200);
  const local = readDaemonAddress(gateway.home.path)?.token ?? "";
  for (const _each of [1, 2, 3, 4, 5, 6]) expect((await send(list, local)).status).toBe(200);

  const short = await issuer.sign({ sub: "brief", exp: Math.floor(Date.now() / 1000) + 3 });
  const listen = currentRequest("subscriptions/listen", { notifications: { toolsListChanged: true } });
  using stream = await openRawStream(url, {
    ...listen,
    headers: { ...listen.headers, authorization: `Bearer ${short}` },
  });
  expect(stream.status).toBe(200);
  await stream.ended;
  expect((await send(list, short)).status).toBe(401);
});

test("keys may change, and without them nobody gets in", async () => {
  await using gateway = await startRemoteGateway({});
  const { issuer, send, home } = gateway;
  const token = await issuer.sign();
  await issuer.stop();
  const shut = await send(list, token);
  expect([shut.status, shut.headers["retry-after"]]).toEqual([503, "5"]);
  const log = readFileSync(join(home.path, "daemon.log"), "utf8");
  expect(log).toMatch(/"level":"error".*ECONNREFUSED.*cannot fetch the keys of the issuer/);
  expect(log).not.toContain(token);
  await issuer.start();
  await until("the keys are fetched", async () => (await send(list, token)).status === 200);
  await issuer.rotate();
  const next = await issuer.sign();
  await until("the new key is known", async () => (await send(list, next)).status === 200);
  expect((await send(list, token)).status).toBe(401);
});

test("an address that others can reach needs auth; with it the owner's own tools still work", async () => {
  await using bare = await makeFolder();
  const { code, stderr } = await runPml(["serve", "--host", "0.0.0.0"], { home: bare.path });
  expect(code).toBe(1);
  expect(stderr).toContain('Other machines can reach 0.0.0.0, and there is no "auth" in the configuration');
  expect(stderr).toContain("PML-E4005");

  await using gateway = await startRemoteGateway(
    { mirror: servers.mirror() },
    { config: { http: { host: "0.0.0.0" }, permissions: { allow: ["mirror:*"] } } },
  );
  const { path } = gateway.home;
  await gateway.home.ready("mirror");
  expect(await runJson(["status"], { home: path })).toMatchObject({ url: gateway.url });
  await using owner = await connectClient(path);
  expect(await call(owner.client, "mirror__meta")).toMatchObject({ isError: false });
  await using client = await gateway.connect(await gateway.issuer.sign(), "auto");
  expect(await call(client, "mirror__meta")).toMatchObject({ isError: false });
});
