import type { AuthInfo } from "@modelcontextprotocol/server";
import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "../../test/support/authorization-server.ts";
import { createLogger } from "../base/log.ts";
import { principalOf } from "./caller.ts";
import { principalId } from "./principal.ts";
import { createResourceServer, type ResourceServer } from "./resource-server.ts";

const RESOURCE = "https://pml.example/mcp";
const log = createLogger({ level: "silent", file: undefined, secrets: [] });
const now = (): number => Math.floor(Date.now() / 1000);

let issuer: AuthorizationServer;
let refused: string[];
beforeEach(async () => {
  issuer = await startAuthorizationServer({ audience: RESOURCE });
  refused = [];
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await issuer[Symbol.asyncDispose]();
});

function create(settings: object = {}): ResourceServer {
  return createResourceServer({
    settings: { issuers: [issuer.issuer], resource: RESOURCE, scopes: ["mcp"], jwksUrls: {}, ...settings },
    log,
    onRefused: (reason) => refused.push(reason),
  });
}

async function statusOf(server: ResourceServer, token: string): Promise<number> {
  const answer = await server.authenticate(`Bearer ${token}`);
  return answer instanceof Response ? answer.status : 200;
}

/** Advances the clocks behind pauses and ages, but not the timers of the network. */
function passSeconds(seconds: number): void {
  const later = performance.now() + seconds * 1000;
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
  vi.spyOn(performance, "now").mockReturnValue(later);
}

test("authenticate resolves a good token to its principal, without the token itself", async () => {
  const token = await issuer.sign();
  const info = (await create().authenticate(`Bearer ${token}`)) as AuthInfo;
  expect(principalOf(info)).toEqual({
    id: principalId(issuer.issuer, "ada"),
    subject: "ada",
    issuer: issuer.issuer,
    clientId: "test-app",
    scopes: ["mcp", "other"],
  });
  expect(info.expiresAt).toBeGreaterThan(now());
  expect(JSON.stringify(info)).not.toContain(token);
});

test("authenticate answers a missing token with a challenge that names the metadata", async () => {
  const answer = (await create().authenticate(undefined)) as Response;
  expect(answer.status).toBe(401);
  const challenge = answer.headers.get("www-authenticate");
  expect(challenge).toMatch(/^Bearer .*scope="mcp"/);
  expect(challenge).toContain(`resource_metadata="https://pml.example/.well-known/oauth-protected-resource/mcp"`);
});

test("metadataPaths has both paths that clients try", () => {
  const { metadata, metadataPaths } = create();
  expect(metadataPaths).toEqual(["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]);
  expect(metadata).toMatchObject({
    resource: RESOURCE,
    authorization_servers: [issuer.issuer],
    scopes_supported: ["mcp"],
    bearer_methods_supported: ["header"],
  });
});

describe("authenticate refuses a token", () => {
  test.each([
    ["that has expired", { exp: now() - 1 }],
    ["that never expires", { exp: undefined }],
    ["that is not valid yet", { nbf: now() + 60 }],
    ["for somebody else", { aud: "https://other.example/mcp" }],
    ["for nobody", { aud: undefined }],
    ["of another issuer", { iss: "https://other.example" }],
    ["of no issuer", { iss: undefined }],
    ["without a subject", { sub: undefined }],
    ["with an empty subject", { sub: "" }],
  ])("%s", async (_name, claims) => {
    expect(await statusOf(create(), await issuer.sign(claims))).toBe(401);
    expect(refused).toEqual(["invalid_token"]);
  });

  test("signed with another key under the same name, with a shared secret, or not at all", async () => {
    const server = create();
    const claims = { iss: issuer.issuer, aud: RESOURCE, sub: "ada", exp: now() + 60, scope: "mcp" };
    const { privateKey } = await generateKeyPair("ES256");
    const foreign = await new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "key-1" }).sign(privateKey);
    const secret = new TextEncoder().encode("a secret that is long enough for it");
    const shared = await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "key-1" }).sign(secret);
    for (const token of [foreign, shared, new UnsecuredJWT(claims).encode(), "not a token"]) {
      expect(await statusOf(server, token), token).toBe(401);
    }
  });

  test("with too small a scope: a 403 that names the scope", async () => {
    const answer = (await create().authenticate(`Bearer ${await issuer.sign({ scope: "other" })}`)) as Response;
    expect(answer.status).toBe(403);
    expect(answer.headers.get("www-authenticate")).toMatch(/error="insufficient_scope".*scope="mcp"/);
    expect(refused).toEqual(["insufficient_scope"]);
  });
});

test("authenticate understands other spellings of scopes, client and audience", async () => {
  const server = create({ audience: "api://pml" });
  const claims = { aud: ["api://pml", "else"], scope: undefined, scp: ["mcp"], client_id: undefined, azp: "azure-app" };
  const info = (await server.authenticate(`Bearer ${await issuer.sign(claims)}`)) as AuthInfo;
  expect(principalOf(info)).toMatchObject({ clientId: "azure-app", scopes: ["mcp"] });
  expect(await statusOf(server, await issuer.sign())).toBe(401);
});

test("keys are fetched once, and again for an unknown key, but not more often than every few seconds", async () => {
  const server = create();
  const before = await issuer.sign();
  for (const _each of [1, 2, 3]) expect(await statusOf(server, before)).toBe(200);
  expect(issuer.requests).toEqual(["/.well-known/oauth-authorization-server", "/keys"]);
  await issuer.rotate();
  const after = await issuer.sign();
  expect(await statusOf(server, after)).toBe(401);
  expect(issuer.requests).toHaveLength(2);
  passSeconds(6);
  expect(await statusOf(server, after)).toBe(200);
  expect(await statusOf(server, before)).toBe(401);
  expect(issuer.requests).toHaveLength(3);
});

test("authenticate answers 503 without the issuer's keys, logs it once and retries after a pause", async () => {
  const error = vi.spyOn(log, "error");
  const server = create();
  const token = await issuer.sign();
  await issuer.stop();
  for (const _each of [1, 2, 3]) {
    const answer = (await server.authenticate(`Bearer ${token}`)) as Response;
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  }
  expect(error).toHaveBeenCalledOnce();
  expect(error.mock.calls[0]?.[0]).toMatchObject({
    issuer: issuer.issuer,
    reason: expect.stringContaining("ECONNREFUSED"),
  });
  await issuer.start();
  expect(await statusOf(server, token)).toBe(503);
  passSeconds(6);
  expect(await statusOf(server, token)).toBe(200);
  expect(refused).toEqual(Array.from({ length: 4 }, () => "keys_unavailable"));
});

test("authenticate accepts known keys while their issuer is away, also after requests with unknown keys", async () => {
  const server = create();
  const token = await issuer.sign();
  expect(await statusOf(server, token)).toBe(200);
  await issuer.stop();
  await issuer.rotate();
  passSeconds(6);
  expect(await statusOf(server, await issuer.sign())).toBe(503);
  expect(await statusOf(server, token)).toBe(200);
  passSeconds(600);
  expect(await statusOf(server, token)).toBe(503);
});

test("metadata of another issuer is refused; auth.jwksUrls replaces it", async () => {
  await using nested = await startAuthorizationServer({ audience: RESOURCE, path: "/tenant" });
  expect(await statusOf(create({ issuers: [nested.issuer] }), await nested.sign())).toBe(200);
  const impostor = `${nested.issuer}/`;
  const token = await nested.sign({ iss: impostor });
  expect(await statusOf(create({ issuers: [impostor] }), token)).toBe(503);
  const jwksUrls = { [impostor]: `${new URL(nested.issuer).origin}/keys` };
  expect(await statusOf(create({ issuers: [impostor], jwksUrls }), token)).toBe(200);
});
