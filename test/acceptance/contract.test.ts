/** The real answers of every route and of every tool of PML, held to the contract. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../src/contract/routes.ts";
import { tools } from "../../src/contract/tools.ts";
import type { PersonAddress } from "../../src/daemon/daemon-file.ts";
import { isOwned } from "../../src/db/owner-lock.ts";
import { ContractWalk } from "../support/contract-walk.ts";
import { reachAsPerson } from "../support/decide.ts";
import { makeFolder } from "../support/folder.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { startLoginServer } from "../support/login-server.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { until } from "../support/pml.ts";
import { startProtectedServer } from "../support/protected-server.ts";
import { servers } from "../support/upstream-servers.ts";

const ECHO = { description: "Says it again.", inputSchema: { type: "object", properties: { text: {} } } };
const SERVER = {
  name: "com.example/weather-mcp",
  description: "Weather",
  version: "1.0.0",
  remotes: [{ type: "streamable-http", url: "https://weather.example.com/mcp" }],
};

let stack: AsyncDisposableStack;
let home: GatewayHome;
let walk: ContractWalk;
let connected: TestClient;
let address: PersonAddress;
let echoFile: string;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const folder = stack.use(await makeFolder());
  const authority = stack.use(await startLoginServer());
  const remote = stack.use(await startProtectedServer(authority, "current"));
  echoFile = join(folder.path, "echo.json");
  writeFileSync(echoFile, JSON.stringify(ECHO));
  const mcpServers = {
    counting: servers.counting(join(folder.path, "calls.txt")),
    chaos: { ...servers.chaos("chaos", `--echo=${echoFile}`), pml: { changedTools: "warn" as const } },
    gone: { command: "/nowhere/server" },
    off: { command: "/nowhere/server", disabled: true },
    docs: { url: remote.url },
  };
  // with output schemas in the list, the client checks every answer as well
  const config = { gateway: { exposure: "full" }, permissions: { allow: ["counting:read", "counting:list"] } };
  home = stack.use(await startGateway(mcpServers, { config }));
  await home.ready("counting", "chaos");
  connected = stack.use(await connectClient(home.path, { transport: "http", era: "auto" }));
  address = await reachAsPerson(home.path);
  walk = new ContractWalk(address, connected.client);
});
afterAll(() => stack.disposeAsync());

interface Ran {
  readonly status: string;
  readonly workflowId: string;
  readonly capabilityName: string;
  readonly capabilityFqdn: string;
  readonly tasks: { readonly id: string }[];
  readonly approval: { readonly id: string };
}

const run = (request: Record<string, unknown>): Promise<Ran> =>
  walk.tool<Ran>("pml_execute", { intent: "read a key", ...request });

test("lists show output schemas of PML's own tools where everything is listed, and failures fit them", async () => {
  const { tools: listed } = await connected.client.listTools();
  const own = listed.filter(({ name }) => name.replace("__", ":") in tools);
  expect(own).toHaveLength(Object.keys(tools).length);
  const without = own.filter(({ outputSchema }) => outputSchema === undefined).map(({ name }) => name);
  expect(without).toEqual(["pml_get_task_result"]);
  for (const name of ["pml_execute", "pml_discover", "dns:lookup"] as const)
    expect(await walk.tool(name, { nonsense: true })).toMatchObject({ error: { code: "arguments_invalid" } });
  expect(await walk.tool("dns:lookup", { name: "no:such" })).toMatchObject({ error: { code: "capability_not_found" } });
});

const READ = `const { count } = await mcp.counting.read({ key: args.key });
if (count > 100) { for (const each of [1, 2]) await mcp.counting.list({ length: each }); }
console.log("read"); return { count };`;

test("pml_execute answers each of its outcomes as the contract declares", async () => {
  const named = await run({ code: READ, args: { key: "a" }, name: "util:read", visibility: "project", tags: ["x"] });
  expect(named.status).toBe("success");
  await walk.route("shareRecord", { body: { name: "util:read", visibility: "public" } });
  expect(await run({ capability: "util:read", args: { key: "b" } })).toMatchObject({ status: "success" });
  expect(await run({ code: "throw new Error('on purpose')" })).toMatchObject({ status: "error" });
  expect(await run({ code: "return (" })).toMatchObject({ status: "error", error: { code: "syntax_error" } });
  expect(await run({ capability: "no:such" })).toMatchObject({ status: "error" });
  expect(await run({ code: READ, args: { key: "c" }, options: { dry_run: true } })).toMatchObject({
    status: "dry_run",
  });
  const layers = "await mcp.counting.read({ key: 'd' }); await mcp.counting.read({ key: 'e' }); return 1";
  expect(await run({ code: layers, options: { per_layer_validation: true } })).toMatchObject({
    status: "layer_complete",
  });
  const dag = { tasks: [{ id: "one", tool: "counting:list", arguments: { length: 2 } }] };
  expect(await run({ dag })).toMatchObject({ status: "success", mode: "dag" });
  const accepted = { callName: "counting:list", args: { length: 1 } };
  expect(await run({ accept_suggestion: accepted, name: "util:list_one" })).toMatchObject({ status: "success" });
  expect(await run({ intent: "list numbers and read a key" })).toMatchObject({ status: "suggestions" });
  const full = { detail: "full" };
  expect(await run({ intent: "list numbers", options: full })).toMatchObject({ status: "suggestions" });
  expect(await run({ intent: "read a key", context: { key: "f" } })).toMatchObject({ mode: "speculation" });
  const waiting = await run({ code: "return await mcp.counting.put({ key: 'g' })" });
  expect(waiting.status).toBe("approval_required");
  const ended = { continue_workflow: { workflow_id: waiting.workflowId, approved: false } };
  expect(await run(ended)).toMatchObject({ status: "error" });

  const step = named.tasks[0]?.id ?? "";
  const page = { workflow_id: named.workflowId, task_id: step };
  expect(await walk.tool("pml_get_task_result", page)).toMatchObject({ next_offset: null });
});

test("the other tools of PML answer as the contract declares", async () => {
  for (const more of [{ detail: "names" }, { detail: "brief" }, { format: "typescript" }, { include_code: true }])
    expect(await walk.tool("pml_discover", { intent: "read a key", ...more })).toMatchObject({ meta: {} });
  await walk.tool("pml_list_capabilities", {});
  await run({ code: "return (await mcp.counting.list({ length: 3 })).items.length" });
  await walk.tool("pml_curate_capabilities", {});
  await walk.tool("learn:curate", { strategy: "auto" });
  await walk.tool("pml_curate_capabilities", { strategy: "apply", rejects: ["util:read"], renames: [] });
  for (const name of ["util:read", "util:list_one", "mcp:filesystem"]) {
    await walk.tool("dns:lookup", { name });
    await walk.tool("dns:whois", { fqdn: name });
    await walk.tool("dns:history", { name });
  }
  const page = await walk.tool<{ next_cursor: string }>("dns:query", { limit: 1 });
  await walk.tool("dns:query", { limit: 1, cursor: page.next_cursor });
  await walk.tool("learn:save", { name: "util:saved", code: "return args.n + 1" });
  await walk.tool("dns:update", { name: "util:saved", code: "return args.n + args.m", change_summary: "adds m" });
  await walk.tool("dns:history", { name: "util:saved" });
  await walk.tool("dns:history", { name: "util:saved", compare: {} });
  await walk.tool("dns:rename", { name: "util:saved", newName: "util:sum" });
  await walk.tool("dns:tag", { name: "util:sum", tags: ["y"], routing: "cloud", cache_policy: "memoize", ttl: 60 });
  await walk.tool("dns:fork", { source: "util:sum", name: "util:copy" });
  await walk.tool("dns:fork", { source: "mcp:filesystem", name: "mcp:files" });
  await walk.tool("dns:merge", { sources: ["util:read", "util:sum"], name: "util:both" });
  await walk.tool("learn:feedback", { name: "util:sum", success: true, latency_ms: 5 });
  await walk.tool("learn:archive", { name: "util:copy" });
  await walk.tool("learn:restore", { name: "util:copy" });
  await walk.tool("learn:delete", { name: "util:copy" });
  for (const name of ["meta:tools", "meta:servers", "meta:stats"] as const) await walk.tool(name, {});
  expect([...walk.seenTools].toSorted()).toEqual(Object.keys(tools).toSorted());
});

async function walkApprovals(): Promise<void> {
  const { approval } = await run({ code: "return await mcp.counting.put({ key: 'h' })" });
  const params = { id: approval.id };
  await walk.route("listInbox");
  await walk.route("getApproval", { params });
  await walk.route("getApproval", { params: { id: "apr_none" }, status: 409 });
  await walk.route("showApprovalPage", { params });
  await walk.route("answerApprovalPage", { params, body: "key=wrong", status: 403 });
  await walk.route("answerApprovalPage", { params, body: `key=${address.decisionKey}` });
  const body = { decision: "approve", via: "cli", remember: { days: 2 } };
  await walk.route("decideApproval", { params, body: { decision: "perhaps" }, status: 409 });
  await walk.route("decideApproval", { params, body });
  await walk.route("listInbox", { query: { all: "true" } });
  const [rule] = await walk.route<{ id: string }[]>("listRules");
  await walk.route("removeRule", { params: { id: rule?.id ?? "" } });
  await walk.route("testRules", { query: { tool: "counting:put" } });
  await walk.route("testRules", { query: { tool: "no:such" }, status: 409 });
}

async function walkRuns(): Promise<void> {
  const nested = `await capabilities.util.read({ key: "i" }); return 2`;
  const { workflowId: id } = await run({ code: nested, name: "util:nested" });
  expect(await walk.route("listRuns", { query: { limit: "50" } })).not.toHaveLength(0);
  expect(await walk.route("listRuns", { query: { state: "failed" } })).not.toHaveLength(0);
  await walk.route("listRuns", { query: { state: "odd" }, status: 409 });
  await walk.route("getRun", { params: { id } });
  await walk.route("replayRun", { params: { id } });
  for (const name of ["util:read", "util:list_one", "util:nested"])
    await walk.route("getCapability", { query: { name } });
  await walk.route("inferParameters", { body: { code: READ } });
}

async function walkRecords(): Promise<void> {
  await walk.route("addAlias", { body: { name: "util:read", alias: "util:look" } });
  await walk.route("retireAlias", { body: { name: "util:read", alias: "util:look" } });
  await walk.route("registerServer", { body: { text: JSON.stringify(SERVER), visibility: "public" } });
  await walk.route("exportServer", { params: { name: "mcp:weather" } });
  const params = { name: "weather", version: "1.0.0" };
  await walk.route("getServerModule", { params });
  await walk.route("getServerJson", { params });
  await walk.route("getServerJson", { params: { ...params, version: "9.9.9" }, status: 404 });
  const { capabilities } = await walk.route<{ capabilities: { fqdn: string }[] }>("listPublished");
  await walk.route("listPublished", { query: { cursor: "odd" }, status: 400 });
  const published = await walk.route("getPublished", { params: { reference: capabilities[0]?.fqdn ?? "" } });
  await walk.route("getPublished", { params: { reference: "no.such.thing" }, status: 404 });
  await walk.route("adoptPublished", { body: { published, name: "util:adopted" } });
}

async function walkServers(): Promise<void> {
  writeFileSync(echoFile, JSON.stringify({ ...ECHO, description: "Says it again, and more." }));
  await connected.client.callTool({ name: "chaos__grow", arguments: {} });
  await until("the change was noticed", async () => (await walk.route<unknown[]>("listReviews")).length > 0);
  await walk.route("listServers");
  await walk.route("listTools");
  await walk.route("listClients");
  await walk.route("reportNames");
  await walk.route("trustHints", { body: { server: "chaos", trust: true } });
  await walk.route("trustHints", { body: { server: "nobody", trust: true }, status: 409 });
  await walk.route("listReviews", { query: { subject: "chaos" } });
  await walk.route("decideReviews", { body: { subject: "chaos:echo", verdict: "accepted" } });
  await until("it wants a login", async () => (await home.server("docs")).state === "login_needed");
  const { id, url } = await walk.route<{ id: string; url: string }>("beginLogin", { body: { server: "docs" } });
  const [, page] = await Promise.all([walk.route("awaitLogin", { query: { id } }), fetch(url)]);
  expect(await page.text()).toContain("PML is logged in to docs");
  await walk.route("finishLogin", { query: { state: "odd" }, status: 400 });
  await walk.route("endLogin", { body: { server: "docs" } });
  await walk.route("getClientDocument", { status: 404 });
}

test("every route answers as the contract declares, failures included", { timeout: 120_000 }, async () => {
  await walkApprovals();
  await walkRuns();
  await walkRecords();
  await walkServers();
  await walk.route("getCuration");
  await walk.route("suggestNames", { body: {} });
  await walk.route("applySureNames", { body: { dryRun: true, minConfidence: 0.5 } });
  await walk.route("decideNames", { body: { renames: [{ id: "no:such", name: "util:x" }], rejects: ["util:read"] } });
  await walk.route("getProof", { query: { nonce: "n".repeat(43) } });
  await walk.route("getProof", { query: { nonce: "short" }, status: 400 });
  for (const name of ["getStatus", "getIndex", "backUp", "getHealth", "getReadiness", "getMetrics"] as const)
    await walk.route(name);
  expect(await walk.route("getOpenApi")).toMatchObject({ openapi: "3.1.0" });
  await walk.route("importMemory", { body: await walk.route<string>("exportMemory") });
  await walk.route("importMemory", { body: "no export", status: 409 });

  const old = await fetch(new URL("/api/runs", address.url), {
    headers: { Authorization: `Bearer ${address.token}` },
  });
  expect([old.status, await old.json()]).toMatchObject([
    404,
    { error: { hint: expect.stringContaining("/api/v1/runs") } },
  ]);

  await walk.route("shutDown");
  await until("the daemon has ended", () => !isOwned(home.path));
  expect([...walk.seenRoutes].toSorted()).toEqual(Object.keys(routes).toSorted());
});
