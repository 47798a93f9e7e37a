/** Remote servers that require OAuth. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { type LoginServer, startLoginServer } from "../support/login-server.ts";
import { createServerDatabase } from "../support/databases.ts";
import { call, type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { logIn } from "../support/login.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { startProtectedServer } from "../support/protected-server.ts";

/** Reads all files below a folder, database and logs included. */
function readEverything(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n");
}

function countRequests(authority: LoginServer, request: string): number {
  return authority.requests.filter((each) => each === request).length;
}

async function waitForLoginState(home: GatewayHome): Promise<void> {
  await until("it wants a login", async () => (await home.server("docs")).state === "login_needed");
}

test.each(["current", "2025"] as const)(
  "a server of the %s era wants a login: calls say so, pml login makes one, it outlives a restart and is nowhere in clear",
  async (era) => {
    await using authority = await startLoginServer();
    await using remote = await startProtectedServer(authority, era);
    await using home = await startGateway({ docs: { url: remote.url } });
    const options = { home: home.path };
    await waitForLoginState(home);
    expect((await runPml(["servers"], options)).stdout).toContain("login needed");
    expect(await runJson(["status"], options)).toMatchObject({ loginsNeeded: ["docs"] });

    const { code, stdout, page, url } = await logIn("docs", options);
    expect([code, stdout]).toEqual([EXIT.ok, "Logged in to docs\n"]);
    expect(page).toContain("PML is logged in to docs");
    const asked = new URL(url).searchParams;
    expect(asked.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/);
    expect([asked.get("scope"), asked.get("resource")]).toEqual(["read", remote.url]);
    await home.ready("docs");
    await using connected = await connectClient(home.path);
    expect(await call(connected.client, "docs__read")).toEqual({ isError: false, text: "read done" });

    await runPml(["down"], options);
    await runJson(["up"], options);
    await home.ready("docs");
    expect(countRequests(authority, "POST /token authorization_code")).toBe(1);
    await runJson(["export", "-o", join(home.path, "memory.pml")], options);
    await runJson(["servers"], options);
    await runPml(["down"], options);
    const everything = readEverything(home.path);
    expect(authority.secrets.length).toBeGreaterThan(2);
    for (const secret of authority.secrets) expect(everything.includes(secret)).toBe(false);
    expect(statSync(join(home.path, "secret.key")).mode & 0o777).toBe(0o600);
  },
);

test("a login that ended is renewed once for many calls; one that cannot be renewed is wanted anew", async () => {
  await using authority = await startLoginServer();
  await using remote = await startProtectedServer(authority);
  await using home = await startGateway({ docs: { url: remote.url } });
  const options = { home: home.path };
  await waitForLoginState(home);
  await logIn("docs", options);
  await home.ready("docs");
  await using connected = await connectClient(home.path);
  const read = () => call(connected.client, "docs__read");
  for (const renewed of [1, 2]) {
    authority.expireTokens();
    const results = await Promise.all(Array.from({ length: 8 }, read));
    for (const result of results) expect(result).toEqual({ isError: false, text: "read done" });
    expect(countRequests(authority, "POST /token refresh_token")).toBe(renewed);
  }
  authority.revokeAll();
  const refused = await connected.client.callTool({ name: "docs__read", arguments: {} });
  expect(refused).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("pml login docs") }],
    _meta: { "dev.pml/error": { code: "login_needed", details: { server: "docs" } } },
  });
  expect(await runPml(["call", "docs:read"], options)).toMatchObject({ code: EXIT.needsPerson });
  await waitForLoginState(home);
  await logIn("docs", options);
  await home.ready("docs");
  expect(await read()).toMatchObject({ isError: false });
  expect(countRequests(authority, "POST /register")).toBe(1);
});

test("tokens that end soon are renewed before they do, and pml logout ends the login there as well as here", async () => {
  await using authority = await startLoginServer({ tokenSeconds: 20 });
  await using remote = await startProtectedServer(authority);
  await using home = await startGateway({ docs: { url: remote.url } });
  const options = { home: home.path };
  await waitForLoginState(home);
  await logIn("docs", options);
  await home.ready("docs");
  await using connected = await connectClient(home.path);
  expect(await call(connected.client, "docs__read")).toMatchObject({ isError: false });
  expect(countRequests(authority, "POST /token refresh_token")).toBeGreaterThan(0);
  expect(await runJson(["logout", "docs"], options)).toEqual({ server: "docs", loggedOut: true });
  expect(countRequests(authority, "POST /revoke")).toBe(1);
  await waitForLoginState(home);
  expect(await runJson(["logout", "docs"], options)).toEqual({ server: "docs", loggedOut: false });
});

test("a call that needs more than the login allows says so; the next login asks for both", async () => {
  await using authority = await startLoginServer();
  await using remote = await startProtectedServer(authority);
  await using home = await startGateway({ docs: { url: remote.url } });
  const options = { home: home.path };
  await waitForLoginState(home);
  await logIn("docs", options);
  await home.ready("docs");
  await using connected = await connectClient(home.path);
  const write = await call(connected.client, "docs__write");
  expect(write).toMatchObject({ isError: true, text: expect.stringMatching(/allows more \(write\).*pml login docs/) });
  expect(await call(connected.client, "docs__read")).toMatchObject({ isError: false });
  const { url } = await logIn("docs", options);
  expect(new URL(url).searchParams.get("scope")).toBe("read write");
  await home.ready("docs");
  expect(await call(connected.client, "docs__write")).toEqual({ isError: false, text: "write done" });
});

test("where a server takes an address for a client, PML registers nowhere", async () => {
  await using authority = await startLoginServer({ clientDocuments: true });
  await using remote = await startProtectedServer(authority);
  const clientMetadataUrl = "https://pml.example/oauth/client.json";
  await using home = await startGateway({ docs: { url: remote.url } }, { config: { upstream: { clientMetadataUrl } } });
  await waitForLoginState(home);
  const { code, url } = await logIn("docs", { home: home.path });
  expect(code).toBe(EXIT.ok);
  expect(new URL(url).searchParams.get("client_id")).toBe(clientMetadataUrl);
  expect(countRequests(authority, "POST /register")).toBe(0);
  const { url: gateway } = await runJson<{ url: string }>(["status"], { home: home.path });
  const document = (await (await fetch(`${gateway}/oauth/client.json`)).json()) as { redirect_uris: string[] };
  expect(document).toMatchObject({ client_id: clientMetadataUrl, token_endpoint_auth_method: "none" });
  expect(document.redirect_uris).toEqual([new URL(url).searchParams.get("redirect_uri")]);
});

test("an answer in the name of another issuer is refused, and so is a state that is unknown or used", async () => {
  await using authority = await startLoginServer({ wrongIssuer: true });
  await using remote = await startProtectedServer(authority);
  await using home = await startGateway({ docs: { url: remote.url } });
  await waitForLoginState(home);
  const { code, stderr, page } = await logIn("docs", { home: home.path });
  expect(code).toBe(EXIT.failed);
  expect(stderr).toMatch(/The login to docs failed: .*iss/i);
  expect(page).toContain("failed");
  expect(countRequests(authority, "POST /token authorization_code")).toBe(0);
  const { url } = await runJson<{ url: string }>(["status"], { home: home.path });
  for (const state of ["", "guess", "<script>"]) {
    const response = await fetch(`${url}/oauth/callback?code=x&state=${encodeURIComponent(state)}`);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("not known")]);
  }
  expect((await home.server("docs")).state).toBe("login_needed");
});

test("a login is bound to its address: another server under the same name does not get to see it", async () => {
  await using authority = await startLoginServer();
  await using remote = await startProtectedServer(authority);
  await using other = await startProtectedServer(authority);
  await using home = await startGateway({ docs: { url: remote.url } });
  await waitForLoginState(home);
  await logIn("docs", { home: home.path });
  await home.ready("docs");
  writeFileSync(join(home.path, "pml.json"), JSON.stringify({ mcpServers: { docs: { url: other.url } } }));
  await waitForLoginState(home);
  expect(other.methods).toEqual([]);
});

test("a machine logs in by itself, with a secret that is named and not written down", async () => {
  const machine = { id: "robot", secret: "robot-s3cret" };
  await using authority = await startLoginServer({ machine });
  await using remote = await startProtectedServer(authority);
  const oauth = {
    grant: "client_credentials",
    clientId: machine.id,
    clientSecret: { env: "ROBOT_SECRET" },
    issuer: authority.issuer,
  } as const;
  const env = { ROBOT_SECRET: machine.secret };
  await using home = await startGateway({ docs: { url: remote.url, pml: { oauth } } }, { env });
  await home.ready("docs");
  await using connected = await connectClient(home.path);
  expect(await call(connected.client, "docs__read")).toMatchObject({ isError: false });
  authority.expireTokens();
  expect(await call(connected.client, "docs__read")).toMatchObject({ isError: false });
  expect(await call(connected.client, "docs__write")).toMatchObject({
    isError: true,
    text: expect.stringMatching(/write/),
  });
  expect((await runPml(["login", "docs"], { home: home.path })).stderr).toContain("its client logs in by itself");
  await runPml(["down"], { home: home.path });
  expect(readEverything(home.path)).not.toContain(machine.secret);
});

test("a secret goes to the issuer it was registered with and nowhere else", async () => {
  await using authority = await startLoginServer({ machine: { id: "robot", secret: "robot-s3cret" } });
  await using remote = await startProtectedServer(authority);
  const oauth = {
    grant: "client_credentials",
    clientId: "robot",
    clientSecret: { env: "ROBOT_SECRET" },
    issuer: "https://login.example",
  } as const;
  const docs = { url: remote.url, pml: { oauth } };
  await using home = await startGateway({ docs }, { env: { ROBOT_SECRET: "robot-s3cret" } });
  await until("it failed", async () => (await home.server("docs")).state === "backoff");
  expect(await home.server("docs")).toMatchObject({ lastError: expect.stringContaining("PML cannot log in to docs") });
  expect(authority.requests.filter((request) => request.startsWith("POST"))).toEqual([]);
});

test("configured headers are sent as they are, and no login is wanted then", async () => {
  await using authority = await startLoginServer();
  await using remote = await startProtectedServer(authority);
  await using home = await startGateway({ docs: { url: remote.url, headers: { Authorization: "Bearer mine" } } });
  await until("it was refused", async () => (await home.server("docs")).state === "backoff");
  const { code, stderr } = await runPml(["login", "docs"], { home: home.path });
  expect(code).toBe(EXIT.failed);
  expect(stderr).toContain("its configuration has an Authorization header");
});

test("on a shared database a login needs a key that all gateways have", async () => {
  await using authority = await startLoginServer();
  await using remote = await startProtectedServer(authority);
  const config = { database: { url: await createServerDatabase() } };
  const entries = { docs: { url: remote.url } };
  await using without = await startGateway(entries, { config });
  await waitForLoginState(without);
  const refused = await runPml(["login", "docs"], { home: without.path });
  expect(refused.code).toBe(EXIT.failed);
  expect(refused.stderr).toMatch(/key of your own[\s\S]*PML_SECRET_KEY or secrets\.keyFile/);
  await runPml(["down"], { home: without.path });

  const env = { PML_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") };
  await using here = await startGateway(entries, { config, env });
  await using there = await startGateway(entries, { config, env });
  await waitForLoginState(here);
  expect((await logIn("docs", { home: here.path, env })).code).toBe(EXIT.ok);
  await here.ready("docs");
  await there.ready("docs");
  await using connected = await connectClient(there.path, { env });
  expect(await call(connected.client, "docs__read")).toMatchObject({ isError: false });
  // Both calls meet the expired token; it is renewed once, since the refresh token is single-use.
  authority.expireTokens();
  await using other = await connectClient(here.path, { env });
  const results = await Promise.all([other, connected].map(({ client }) => call(client, "docs__read")));
  for (const result of results) expect(result).toMatchObject({ isError: false });
  expect(countRequests(authority, "POST /token refresh_token")).toBe(1);
});
