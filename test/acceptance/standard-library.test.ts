import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import type { GatewayHome } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { callJson, listNames, startNamesGateway } from "../support/names-scene.ts";

const DNS = ["lookup", "query", "whois", "history", "fork", "merge", "rename", "tag"].map((name) => `dns__${name}`);

const RECORD_MEMBERS = `fqdn display_name org project namespace action hash created_by created_at version version_tag
  updated_by updated_at ttl cache_policy parent_id forked_from verified signature usage_count
  success_count total_latency_ms tags visibility code_snippet parameters_schema description aliases
  success_rate avg_latency_ms`.split(/\s+/);

let home: GatewayHome;
let connected: TestClient;
let client: Client;
beforeAll(async () => {
  home = await startNamesGateway({ gateway: { exposure: "full" } });
  // a client of the current protocol would cache its lists until a change notification
  connected = await connectClient(home.path, { transport: "http" });
  ({ client } = connected);
  const programs = {
    "fs:read_json": `const { path } = args; return { path, text: "{}" };`,
    "fs:write_json": `return await mcp.counting.put({ key: args.key });`,
    "api:fetch_user": `return (await mcp.counting.list({ length: 1 })).items;`,
    "api:drop_user": `return await mcp.counting.drop({ key: args.key });`,
    "transform:validate_schema": `return { valid: args.text.length > 0, path: args.path };`,
  };
  for (const [name, code] of Object.entries(programs)) {
    const args = { path: "a.json", key: "k", text: "{}" };
    const answer = await execute(client, { code, args, name, description: `Does ${name}`, tags: ["json"] });
    if (answer.status !== "success") throw new Error(JSON.stringify(answer));
  }
});
afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const call = async <T = Record<string, unknown>>(name: string, input: Record<string, unknown> = {}): Promise<T> => {
  const { value, isError, text } = await callJson<T>(client, name, input);
  if (isError) throw new Error(text);
  return value;
};

const list = async (input: Record<string, unknown>): Promise<Record<string, unknown>[]> =>
  (await call<{ capabilities: Record<string, unknown>[] }>("pml_list_capabilities", input)).capabilities;

interface Page {
  readonly records: { readonly display_name: string }[];
  readonly next_cursor: string | null;
}
const names = async (query: Record<string, unknown>): Promise<string[]> =>
  (await call<Page>("dns:query", { record_type: "capability", ...query })).records.map((record) => record.display_name);

test("[FR019] [FR052] [FR053] [FR054] [FR055] [FR056] [FR057] [FR058] [13.5-AC1] [13.5-AC2] [13.5-AC5] [13.5-AC6] [13.6-AC1] [13.13-AC1] [13.13-AC2] [13.13-AC3] [13.13-AC4] [13.13-AC5] [13.13-AC6] [13.13-AC7] [13.13-AC8] [13.13-AC9] [TS-L1] [TS-L2] [TS-L3] [AR4] capabilities and the library stand in one list with real tools", async () => {
  const { tools } = await client.listTools();
  const listed = tools.map(({ name }) => name);
  expect(listed).toEqual(expect.arrayContaining([...DNS, "meta__tools", "meta__servers", "meta__stats"]));
  expect(listed).toEqual(expect.arrayContaining(["learn__save", "learn__curate", "learn__feedback", "counting__list"]));
  const capabilities = tools.filter(({ name }) => name.startsWith("cap__"));
  expect(capabilities.map(({ name }) => name)).toEqual([
    "cap__api__drop_user",
    "cap__api__fetch_user",
    "cap__fs__read_json",
    "cap__fs__write_json",
    "cap__transform__validate_schema",
  ]);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  expect(byName.get("cap__fs__read_json")).toMatchObject({
    description: "Does fs:read_json",
    inputSchema: { type: "object", properties: { path: {} } },
    outputSchema: { type: "object", anyOf: [{ properties: { path: { type: "string" } } }, {}] },
    annotations: { readOnlyHint: true },
  });
  expect(byName.get("cap__api__fetch_user")?.annotations).toMatchObject({ readOnlyHint: true });
  expect(byName.get("cap__fs__write_json")?.annotations).toMatchObject({
    destructiveHint: false,
    idempotentHint: true,
  });
  expect(byName.get("cap__api__drop_user")?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
});

test("[FR041] [FR042] [FR043] [FR044] [13.11-AC1] [13.11-AC2] [13.11-AC3] [13.11-AC4] [13.11-AC5] [13.1-AC1] [TS-Q1] [TS-R1] [TS-R3] [TS-R5] [TS-R6] [13.2-AC1] [13.2-AC2] [13.2-AC3] [13.2-AC4] lookup, query, whois and history", async () => {
  expect(await call("dns:lookup", { name: "fs:read_json" })).toMatchObject({
    fqdn: expect.stringMatching(/^local\.default\.fs\.read_json\.[0-9a-f]{4}$/) as string,
    display_name: "fs:read_json",
    description: "Does fs:read_json",
    usage_count: 1,
    success_rate: 1,
  });
  await call("dns:tag", { name: "fs:read_json", tags: ["json", "read"] });
  expect(await names({ tags: ["json", "read"] })).toEqual(["fs:read_json"]);
  expect(await names({ created_by: "test-*", namespace: "api" })).toEqual(["api:drop_user", "api:fetch_user"]);
  expect(await names({ visibility: "public", record_type: "capability" })).toEqual([]);
  await call("learn:save", {
    name: "util:shared",
    code: "return 'shared'",
    visibility: "public",
    version_tag: "v1.4.0",
  });
  expect((await execute(client, { capability: "util:shared" })).status).toBe("success");
  expect(await names({ visibility: "public", record_type: "capability" })).toEqual(["util:shared"]);
  expect(await names({ version_tag: "v1.*" })).toEqual(["util:shared"]);
  expect(await names({ text: "validate schema" })).toEqual(["transform:validate_schema"]);
  const newest = { record_type: "capability", sort_by: "created" };
  const first = await call<Page>("dns:query", { ...newest, limit: 2 });
  const second = await call<Page>("dns:query", { ...newest, limit: 2, cursor: first.next_cursor });
  expect([...first.records, ...second.records].map((record) => record.display_name)).toEqual(
    (await names(newest)).slice(0, 4),
  );
  const { fqdn } = await call<{ fqdn: string }>("dns:lookup", { name: "fs:read_json" });
  const record = await call("dns:whois", { fqdn });
  expect(Object.keys(record)).toEqual(expect.arrayContaining(RECORD_MEMBERS));
  expect(record).toMatchObject({
    fqdn,
    display_name: "fs:read_json",
    org: "local",
    project: "default",
    namespace: "fs",
    action: "read_json",
    hash: fqdn.slice(-4),
    created_by: "test-client",
    version: 1,
    cache_policy: "none",
    aliases: [],
    verified: false,
    code_snippet: expect.stringContaining("const { path }") as string,
    tools_used: [],
    tags: ["json", "read"],
  });
});

test("[13.12-AC9] [13.11-AC6] [13.1-AC3] [FR036] [FR037] [FR038] [13.12-AC10] history has every version, newest first, with what changed", async () => {
  const name = "transform:validate_schema";
  const code = "return { valid: true, path: args.path }";
  await call("dns:update", { name, code, version_tag: "v1.1.0", change_summary: "always valid" });
  const { versions } = await call<{ versions: Record<string, unknown>[] }>("dns:history", { name });
  expect(versions).toMatchObject([
    {
      version: 2,
      version_tag: "v1.1.0",
      change_summary: "always valid",
      code_snippet: code,
      updated_by: "test-client",
    },
    { version: 1, version_tag: null },
  ]);
  const again = await callJson(client, "dns:update", { name, code: "return 3", version_tag: "v1.1.0" });
  expect(again).toMatchObject({ isError: true, value: { error: { code: "version_tag_taken" } } });
  const unchanged = await call<{ versions: Record<string, unknown>[] }>("dns:history", { name });
  expect(unchanged.versions).toEqual(versions);
  const rows = await exportedRows(home.path, "capability_records");
  expect(rows.find((row) => row["display_name"] === name)).toMatchObject({ version: 2, version_tag: "v1.1.0" });
});

test("[FR048] [FR049] [FR051] [TS-F1] [TS-M1] fork copies with provenance, merge makes a pipeline that runs", async () => {
  const fork = await call<{ fqdn: string; forked_from: string }>("dns:fork", {
    source: "cap:fs:read_json",
    name: "fs:read_json_custom",
  });
  expect(fork.forked_from).toMatch(/^local\.default\.fs\.read_json\./);
  expect(await listNames(client)).toContain("cap__fs__read_json_custom");
  await call("dns:update", { name: "fs:read_json_custom", code: `return { path: args.path, text: "custom" };` });
  expect((await execute(client, { capability: "fs:read_json", args: { path: "p" } })).result).toMatchObject({
    text: "{}",
  });
  const merged = await call("dns:merge", {
    sources: ["cap:fs:read_json_custom", "transform:validate_schema"],
    name: "fs:read_validated_json",
  });
  expect(merged).toMatchObject({ display_name: "fs:read_validated_json", state: "draft" });
  expect(await call("cap:fs:read_validated_json", { path: "q.json" })).toEqual({ valid: true, path: "q.json" });
  expect(await listNames(client)).toContain("cap__fs__read_validated_json");
});

test("[13.13-AC11] [13.13-AC12] [TS-L4] [A28] [A29] feedback counts, archive takes out of lists and restore brings back", async () => {
  const before = await call<{ usage_count: number }>("dns:lookup", { name: "api:fetch_user" });
  const after = await call("learn:feedback", { name: "api:fetch_user", success: true, latency_ms: 45 });
  expect(after).toMatchObject({ usage_count: before.usage_count + 1, success_count: 2 });
  await call("learn:feedback", { name: "api:fetch_user", success: false });
  expect(await call("dns:whois", { fqdn: "api:fetch_user" })).toMatchObject({ usage_count: 3, success_count: 2 });
  await call("learn:archive", { name: "api:fetch_user" });
  expect(await listNames(client)).not.toContain("cap__api__fetch_user");
  const archived = await client.callTool({ name: "cap:api:fetch_user", arguments: {} });
  expect(archived).toMatchObject({ isError: true, content: [{ text: "api:fetch_user is archived" }] });
  await call("learn:restore", { name: "api:fetch_user" });
  expect(await call("cap:api:fetch_user")).toEqual([0]);
});

test("[FR055] [13.13-AC4] meta tells of tools, servers and use", async () => {
  const { tools, total } = await call<{ tools: { name: string; server: string }[]; total: number }>("meta:tools");
  expect(total).toBe(tools.length);
  expect(tools).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: "pml_execute", server: "pml" }),
      expect.objectContaining({ name: "dns:lookup", server: "pml-std" }),
      expect.objectContaining({ name: "cap:fs:read_json", server: "pml-capabilities", callName: "cap__fs__read_json" }),
      expect.objectContaining({ name: "counting:list", server: "counting" }),
    ]),
  );
  const { servers } = await call<{ servers: unknown[] }>("meta:servers");
  expect(servers).toMatchObject([{ name: "counting", state: "ready", tools: 7 }]);
  const stats = await call<{ tools: unknown[] }>("meta:stats");
  expect(stats).toMatchObject({ days: 30, capabilities: { unnamed: 0 } });
  expect(stats.tools).toContainEqual(expect.objectContaining({ server: "pml-std", tool: "dns:lookup" }));
  const unknown = await client.callTool({ name: "dns:nothing", arguments: {} }).catch((error: unknown) => error);
  expect(unknown instanceof Error ? unknown.message : JSON.stringify(unknown)).toContain("dns:nothing");
});

test("[FR014] [FR015] [FR016] [13.9-AC1] [13.9-AC2] [13.9-AC3] [13.9-AC4] [13.9-AC5] [13.9-AC6] [13.9-AC7] [TS-A2] pml_list_capabilities filters, sorts and pages", async () => {
  const nobody = await execute(client, { code: "return 'nobody'" });
  const listed = async (input: Record<string, unknown>): Promise<string[]> =>
    (await list(input)).map((each) => String(each["name"]));
  const all = await listed({});
  expect(all).toContain(nobody.capabilityName);
  expect(all).toEqual(all.toSorted((a, b) => (a < b ? -1 : 1)));
  const named = await listed({ named_only: true });
  expect(named).toEqual(all.filter((name) => name !== nobody.capabilityName));
  expect(await listed({ namespace: "api" })).toEqual(["api:drop_user", "api:fetch_user"]);
  expect(await listed({ pattern: "fs:read_*", limit: 2 })).toEqual(["fs:read_json", "fs:read_json_custom"]);
  expect(await listed({ limit: 2, offset: 1 })).toEqual(all.slice(1, 3));
  const used = (await list({ sort_by: "usage" })).map((each) => each["usage_count"] as number);
  expect(used).toEqual(used.toSorted((a, b) => b - a));
  expect((await listed({ sort_by: "created" }))[0]).toBe(nobody.capabilityName);
  const [first] = await list({ pattern: "fs:read_json" });
  expect(first).toMatchObject({
    id: expect.any(String) as string,
    name: "fs:read_json",
    description: "Does fs:read_json",
    usage_count: expect.any(Number) as number,
    success_rate: 1,
    parameters: { type: "object" },
  });
});

test("[FR017] [FR018] [13.11-AC7] what pml_discover finds can be called by its name", async () => {
  const { results } = await call<{ results: { name: string; callName: string }[] }>("pml_discover", {
    intent: "transform validate schema",
    filter: { type: "capability" },
  });
  expect(results[0]).toMatchObject({ name: "transform:validate_schema" });
  for (const name of [results[0]?.callName ?? "", `cap:${results[0]?.name}`])
    expect(await call(name, { path: "found.json", text: "x" })).toMatchObject({ valid: true });
});
