import type { IncomingHttpHeaders } from "node:http";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import type { GuardedRequest } from "../auth/caller.ts";
import { type Access, guard, type GuardSettings } from "./guard.ts";

const settings = { token: "right", hosts: ["pml.example"] };
const ours = { host: "127.0.0.1:7650", authorization: "Bearer right" };

interface From {
  readonly remoteAddress?: string;
  readonly localAddress?: string;
}

function requestOf(headers: IncomingHttpHeaders, from: From = {}): GuardedRequest {
  const socket = { remoteAddress: "127.0.0.1", localAddress: "127.0.0.1", ...from };
  return { headers, socket, rawHeaders: Object.entries(headers).flat() } as GuardedRequest;
}

async function statusOf(request: GuardedRequest, access: Access, given: GuardSettings = settings): Promise<number> {
  return (await guard(request, access, given))?.status ?? 200;
}

test.each([
  ["loopback with the token", ours, 200],
  ["localhost", { ...ours, host: "localhost:1" }, 200],
  ["IPv6 loopback", { ...ours, host: "[::1]:7650" }, 200],
  ["a name that was allowed", { ...ours, host: "pml.example" }, 200],
  ["an origin of ours", { ...ours, origin: "http://localhost:7650" }, 200],
  ["a rebound name", { ...ours, host: "evil.example" }, 403],
  ["a port that is none", { ...ours, host: "localhost:99999" }, 403],
  ["a name with something behind it", { ...ours, host: "localhost:1:2" }, 403],
  ["no host", { authorization: "Bearer right" }, 403],
  ["a foreign origin", { ...ours, origin: "https://evil.example" }, 403],
  ["an opaque origin", { ...ours, origin: "null" }, 403],
  ["a wrong token", { ...ours, authorization: "Bearer wrong" }, 401],
  ["no token", { host: ours.host }, 401],
])("guard: %s", async (_name, headers, expected) => {
  expect(await statusOf(requestOf(headers), "owner")).toBe(expected);
  expect(await statusOf(requestOf(headers), "principals")).toBe(expected);
});

test("guard asks no token where none is needed, but still checks Host and Origin", async () => {
  expect(await statusOf(requestOf({ host: ours.host }), "public")).toBe(200);
  expect(await statusOf(requestOf({ host: "evil.example" }), "public")).toBe(403);
});

test("guard looks at each token that comes on a connection, also after the right one", async () => {
  const request = requestOf(ours);
  expect(await statusOf(request, "owner")).toBe(200);
  expect(await statusOf(request, "owner")).toBe(200);
  for (const authorization of ["Bearer wrong", "Bearer right ", ""]) {
    const next = { ...request, headers: { ...ours, authorization } } as GuardedRequest;
    expect(await statusOf(next, "owner")).toBe(401);
  }
  const silent = { ...request, headers: { host: ours.host } } as GuardedRequest;
  expect(await statusOf(silent, "owner")).toBe(401);
});

describe("with auth", () => {
  const caller: AuthInfo = { token: "", clientId: "app", scopes: [] };
  const resourceServer = {
    host: "public.example",
    metadata: {},
    metadataPaths: [],
    authenticate: async (authorization: string | undefined) =>
      authorization === "Bearer theirs" ? caller : Response.json({}, { status: 401, headers: { "X-From": "auth" } }),
  };
  const remote = { ...settings, resourceServer };
  const theirs = { host: "public.example", authorization: "Bearer theirs" };

  test("a token of an authorization server counts where principals may come, and says whose it is", async () => {
    const request = requestOf(theirs, { remoteAddress: "203.0.113.9" });
    expect(await statusOf(request, "owner", remote)).toBe(401);
    expect(request.auth).toBeUndefined();
    expect(await statusOf(request, "principals", remote)).toBe(200);
    expect(request.auth).toBe(caller);
    expect(await guard(requestOf({ host: "public.example" }), "principals", remote)).toMatchObject({
      status: 401,
      headers: { "x-from": "auth" },
    });
  });

  test.each([
    ["over loopback", ours, {}, 200],
    ["over loopback, IPv6", ours, { remoteAddress: "::1" }, 200],
    ["over loopback, IPv4 in IPv6", ours, { remoteAddress: "::ffff:127.0.0.1" }, 200],
    ["over the machine's own address", ours, { remoteAddress: "192.0.2.7", localAddress: "192.0.2.7" }, 200],
    ["from another machine", ours, { remoteAddress: "192.0.2.8", localAddress: "192.0.2.7" }, 401],
    ["through a proxy", { ...ours, "x-forwarded-for": "203.0.113.9" }, {}, 401],
    ["under the public name", { ...ours, host: "public.example" }, {}, 401],
  ])("the local token %s", async (_name, headers, from, expected) => {
    expect(await statusOf(requestOf(headers, from), "owner", remote)).toBe(expected);
    expect(await statusOf(requestOf(headers, from), "principals", remote)).toBe(expected);
  });
});
