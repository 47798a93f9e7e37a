/** Tools that agents call themselves, without a program around the call. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approve } from "../support/decide.ts";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { call, type TextResult } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { type RemoteGateway, startRemoteGateway } from "../support/remote-gateway.ts";
import { CLAIMS, tool, Turncoat } from "../support/turncoat.ts";

const stack = new AsyncDisposableStack();
let gateway: RemoteGateway;
let server: Turncoat;
let owner: TestClient;
let ada: Client;
let grace: Client;

const TOOLS = Object.entries(CLAIMS).map(([name, claims]) => tool(name, claims));

beforeAll(async () => {
  const { path } = stack.use(await makeFolder());
  server = new Turncoat(path, "box", { trustHints: true });
  server.list(...TOOLS, tool("silent"));
  gateway = stack.use(await startRemoteGateway({ box: server.entry }));
  await gateway.home.ready("box");
  owner = stack.use(await connectClient(gateway.home.path));
  ada = stack.use(await gateway.connect(await gateway.issuer.sign(), "auto"));
  grace = stack.use(await gateway.connect(await gateway.issuer.sign({ sub: "grace" }), "legacy"));
});
afterAll(() => stack.disposeAsync());

const APPROVAL = /apr_[0-9a-z]{10}/;

function idOf({ text }: TextResult): string {
  return APPROVAL.exec(text)?.[0] ?? "";
}

/** Counts the calls of a tool that reach the server while something is done. */
async function reached(work: () => Promise<unknown>): Promise<string[]> {
  const before = server.called().length;
  await work();
  return server.called().slice(before);
}

test("M6: with auth, a direct call that changes or destroys something asks a person, whoever makes it", async () => {
  for (const client of [ada, grace, owner.client]) {
    const calls = await reached(async () => {
      expect(await call(client, "box__read")).toMatchObject({ isError: false });
      for (const name of ["idempotent", "write", "destructive", "silent"]) {
        for (const spelling of [`box__${name}`, `box:${name}`]) {
          const asked = await call(client, spelling, { by: client === ada ? "ada" : "another" });
          expect(asked).toMatchObject({ isError: true, text: expect.stringMatching(APPROVAL) });
        }
      }
    });
    expect(calls).toEqual(["read"]);
  }
});

test("an approval of a direct call covers one call of that principal with those arguments", async () => {
  const { path } = gateway.home;
  const asked = await call(ada, "box__destructive", { file: "a" });
  await approve(path, idOf(asked));
  const calls = await reached(async () => {
    expect(await call(grace, "box__destructive", { file: "a" })).toMatchObject({ isError: true });
    expect(await call(ada, "box__destructive", { file: "b" })).toMatchObject({ isError: true });
    expect(await call(ada, "box__write", { file: "a" })).toMatchObject({ isError: true });
    expect(await call(ada, "box__destructive", { file: "a" })).toMatchObject({ isError: false });
    expect(await call(ada, "box__destructive", { file: "a" })).toMatchObject({ isError: true });
  });
  expect(calls).toEqual(["destructive"]);
});

test("a remembered direct call is the principal's alone, and covers neither programs nor what destroys", async () => {
  const { path } = gateway.home;
  await approve(path, idOf(await call(ada, "box__write", { n: 1 })), { remember: true });
  await approve(path, idOf(await call(ada, "box__destructive", { n: 1 })), { remember: true });
  const calls = await reached(async () => {
    expect(await call(ada, "box__write", { n: 2 })).toMatchObject({ isError: false });
    expect(await call(grace, "box__write", { n: 2 })).toMatchObject({ isError: true });
    expect(await call(ada, "box__idempotent", { n: 2 })).toMatchObject({ isError: true });
    expect(await call(ada, "box__destructive", { n: 2 })).toMatchObject({ isError: true });
    const code = "return await mcp.box.write({ n: 2 })";
    expect((await execute(ada, { code })).status).toBe("approval_required");
  });
  expect(calls).toEqual(["write"]);
});

test("a tool that came to destroy while the gateway was down is asked about by the first call", async () => {
  const { path } = gateway.home;
  await server.define(path, ...TOOLS, tool("turned", CLAIMS.read));
  expect(await call(ada, "box__turned")).toMatchObject({ isError: false });
  const env = { PML_PORT: new URL(gateway.url).port };
  await runPml(["down"], { home: path, env });
  server.list(...TOOLS, tool("turned", CLAIMS.destructive));
  await runJson(["up"], { home: path, env });
  await using again = await gateway.connect(await gateway.issuer.sign(), "auto");
  expect(await reached(() => call(again, "box__turned"))).toEqual([]);
  stack.use((owner = await connectClient(path)));
});

async function passes(): Promise<boolean> {
  return !(await call(owner.client, "box__destructive", { n: 3 })).isError;
}

test("the policy follows the configuration; taking `auth` out of it relaxes nothing before a restart", async () => {
  const { path } = gateway.home;
  const auth = { issuers: [gateway.issuer.issuer], resource: `${gateway.url}/mcp`, scopes: ["mcp"] };
  const mcpServers = { box: server.entry };
  const configure = (config: Record<string, unknown>): void =>
    writeFileSync(join(path, "pml.json"), JSON.stringify({ mcpServers, ...config }));
  configure({ auth, permissions: { directCalls: "written" } });
  await until("written rules alone decide", passes);
  configure({ permissions: { directCalls: "written", deny: ["box:write"] } });
  await until("the rule is there", async () => (await call(owner.client, "box__write")).text.includes("denied"));
  configure({ permissions: { deny: ["box:idempotent"] } });
  await until("the policy is gone", async () => (await call(owner.client, "box__idempotent")).text.includes("denied"));
  expect(await reached(passes)).toEqual([]);
  configure({ auth });
});
