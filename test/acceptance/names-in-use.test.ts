import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { makeFolder } from "../support/folder.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callCapability, callJson, listNames } from "../support/names-scene.ts";
import { runJson, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

const stack = new AsyncDisposableStack();
let home: GatewayHome;
let client: Client;
let files: Readonly<Record<"first" | "second", string>>;
beforeAll(async () => {
  const { path } = stack.use(await makeFolder());
  files = { first: join(path, "first.txt"), second: join(path, "second.txt") };
  for (const file of Object.values(files)) writeFileSync(file, "");
  const config = {
    permissions: { allow: ["first:*", "second:*"], deny: ["second:drop"] },
    gateway: { exposure: "full" },
    discovery: { tier: "lite" },
  };
  const both = { first: servers.counting(files.first), second: servers.counting(files.second) };
  home = stack.use(await startGateway(both, { config }));
  await home.ready("first", "second");
  ({ client } = stack.use(await connectClient(home.path)));
});
afterAll(() => stack.disposeAsync());

/** Calls that reached the server. */
const callsOf = (server: "first" | "second"): string => readFileSync(files[server], "utf8");

test("[AR3] a program is above the gateway and the servers below it: nothing gets past the layer between", async () => {
  const made = await execute(client, {
    name: "util:both_layers",
    code: `const { count } = await mcp.first.add({ key: "up" }); return await mcp.second.add({ key: "after " + count })`,
  });
  expect(made).toMatchObject({ status: "success", result: { count: 1 } });
  expect(made.tasks.map(({ tool, status }) => [tool, status])).toEqual([
    ["first:add", "success"],
    ["second:add", "success"],
  ]);
  expect([callsOf("first"), callsOf("second")]).toEqual(["add up\n", "add after 1\n"]);
  const refused = await execute(client, {
    code: `await mcp.first.add({ key: "never" }); return await mcp.second.drop({ key: "never" })`,
  });
  expect(refused).toMatchObject({ status: "error", error: { code: "permission_denied" } });
  // refused as a whole, before the permitted part runs
  expect([callsOf("first"), callsOf("second")]).toEqual(["add up\n", "add after 1\n"]);
  let rows: Record<string, unknown>[] = [];
  await until("the calls are written", async () => {
    rows = (await exportedRows(home.path, "tool_usage")).filter((row) => row["run_id"] === made.workflowId);
    return rows.length === 2;
  });
  expect(rows.map((row) => `${String(row["server_id"])}:${String(row["tool_name"])}`)).toEqual([
    "first:add",
    "second:add",
  ]);
});

const shape = ({ inputSchema, annotations, title, description }: Record<string, unknown> = {}): unknown => [
  (inputSchema as { type: string; properties: object }).type,
  Object.keys((inputSchema as { properties: object }).properties),
  (annotations as { readOnlyHint: boolean }).readOnlyHint,
  typeof title,
  typeof description,
];

test("[TS-X3] a capability is listed, permitted, counted and looked into like the tool of any server", async () => {
  await execute(client, {
    name: "util:like_any",
    code: `return await mcp.first.read({ key: args.key })`,
    args: { key: "a" },
  });
  const { tools } = await client.listTools();
  const [own, real] = ["cap__util__like_any", "first__read"].map((name) => tools.find((tool) => tool.name === name));
  expect(shape(own)).toEqual(["object", ["key"], true, "string", "string"]);
  expect(shape({ title: "", ...real })).toEqual(shape(own));

  await callJson(client, "learn:save", {
    name: "util:not_allowed",
    code: `return await mcp.second.drop({ key: "x" })`,
  });
  const refused = await callJson(client, "cap:util:not_allowed");
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("second:drop")]);
  expect(callsOf("second")).not.toContain("drop");

  const called = await callJson(client, "cap__util__like_any", { key: "b" });
  const { run } = called.meta["dev.pml/run"] as { run: string };
  const told = await runJson<{ id: string; state: string }[]>(["runs"], { home: home.path });
  expect(told.find(({ id }) => id === run)).toMatchObject({ state: "succeeded" });
  type Stats = { tools: { server: string; tool: string; calls: number }[] };
  let stats: string[] = [];
  await until("both are counted", async () => {
    const { value } = await callJson<Stats>(client, "meta:stats");
    stats = value.tools.map(({ server, tool }) => `${server} ${tool}`);
    return stats.includes("pml-capabilities cap:util:like_any") && stats.includes("first read");
  });
});

test("[NFR002] whoever reads nothing but what the gateway says finds a capability and calls it", async () => {
  await execute(client, {
    name: "util:label_numbers",
    intent: "put a label before each number of a list",
    description: "Puts a label before each number of a list",
    code: `const { items } = await mcp.first.list({ length: args.length }); return items.map((item) => args.label + item)`,
    args: { length: 1, label: "x" },
  });
  const instructions = client.getInstructions() ?? "";
  const { tools } = await client.listTools();
  const mentioned = tools.filter(({ name }) => instructions.includes(name)).map(({ name }) => name);
  expect(mentioned).toEqual(expect.arrayContaining(["pml_discover", "pml_execute"]));
  const finder = tools.find(({ name }) => name === "pml_discover");
  expect(finder?.inputSchema.required).toEqual(["intent"]);
  const { value } = await callJson<{ results: { callName: string }[] }>(client, "pml_discover", {
    intent: "label the numbers of a list",
  });
  const [best] = value.results;
  expect(best?.callName).toBe("cap__util__label_numbers");
  // the tool it needs is listed under the name that the search returned
  const schema = tools.find(({ name }) => name === best?.callName)?.inputSchema as unknown as Schema;
  const args = Object.entries(schema.properties).map(([name, { type }]) => [name, type === "number" ? 2 : "no. "]);
  expect(await callCapability(client, best?.callName ?? "", Object.fromEntries(args))).toEqual(["no. 0", "no. 1"]);
  const wrong = await callJson(client, best?.callName ?? "", { length: 1 });
  expect([wrong.isError, wrong.text]).toEqual([true, expect.stringContaining("label")]);
});

interface Schema {
  readonly properties: Readonly<Record<string, { readonly type?: string }>>;
  readonly required?: readonly string[];
}

test("[TS-X4] a capability whose parameters nobody knows takes any", async () => {
  await execute(client, { name: "util:any_input", code: "return Object.keys(args).length", args: {} });
  const { tools } = await client.listTools();
  const { inputSchema } = tools.find(({ name }) => name === "cap__util__any_input") ?? {};
  expect(inputSchema).toMatchObject({ type: "object", additionalProperties: true });
  expect(inputSchema?.required ?? []).toEqual([]);
  expect(await callCapability(client, "cap:util:any_input", { one: 1, two: { deep: [2] } })).toBe(2);
});

test("[AR1] what is named is part of the graph that discovery and plans are made of, under its current name", async () => {
  const counted = await execute(client, {
    name: "util:count_up",
    intent: "note the length of a sequence",
    code: `const { items } = await mcp.first.list({ length: 2 }); return await mcp.first.put({ key: String(items.length) })`,
  });
  await execute(client, { name: "util:count_twice", code: "return [await capabilities.util.count_up({})]" });
  const edges = await exportedRows(home.path, "tool_edge");
  const between = (from: string, to: string): unknown =>
    edges.find((edge) => edge["from_id"] === from && edge["to_id"] === to);
  expect(between("first:list", "first:put")).toBeDefined();
  const [dependency] = (await exportedRows(home.path, "capability_dependency")).filter(
    (row) => row["to_record_id"] === counted.capabilityId,
  );
  expect(dependency).toBeDefined();

  await callJson(client, "dns:rename", { name: "util:count_up", newName: "util:note_length" });
  const { suggestions } = await execute(client, {
    intent: "note the length of a sequence",
    options: { detail: "full" },
  });
  expect(suggestions.capabilities[0]).toMatchObject({ name: "util:note_length" });
  expect(suggestions.suggestedDag).toMatchObject({
    from: "capability",
    nodes: [{ tool: "first:list" }, { tool: "first:put" }],
  });
  const { value } = await callJson<{ results: { name: string }[] }>(client, "pml_discover", {
    intent: "note the length of a sequence",
  });
  const names = value.results.map(({ name }) => name);
  expect(names[0]).toBe("util:note_length");
  expect(names).not.toContain("util:count_up");
});

const cases: readonly [name: string, legal: boolean][] = [
  ["fs:read_json", true],
  ["fs:read-json", true],
  ["fs:Read", true],
  ["api:v2", true],
  ["my-config-reader", true],
  ["fs:", false],
  [":read", false],
  ["fs:1st", false],
  ["FS:read", false],
  ["fs:read__json", false],
  ["fs:read json", false],
  ["fs:a:b", false],
  [`fs:${"x".repeat(48)}`, false],
];

test("[TS-T1] [S2-T6] every form of name, FQDN and mode is taken or refused as the rules say", async () => {
  for (const [index, [name, legal]] of cases.entries()) {
    const saved = await callJson(client, "learn:save", { name, code: `return "form ${index}"` });
    expect([name, !saved.isError]).toEqual([name, legal]);
  }
  const { value } = await callJson<Record<string, string>>(client, "dns:whois", { fqdn: "fs:read_json" });
  const { fqdn = "", org, project, namespace, action, hash } = value;
  expect(fqdn).toBe([org, project, namespace, action, hash].join("."));
  expect([org, project, namespace, action, hash?.length]).toEqual(["local", "default", "fs", "read_json", 4]);
  for (const reference of [fqdn, fqdn.slice(0, fqdn.lastIndexOf(".")), `${fqdn}@v1`, "local.default:fs:read_json"])
    expect((await execute(client, { capability: reference })).result).toBe("form 0");
  for (const reference of [`${fqdn}.more`, "local.default.fs", "other.default:fs:read_json", `${fqdn}@v9`])
    expect([reference, (await execute(client, { capability: reference })).status]).toEqual([reference, "error"]);

  const two = await execute(client, { code: "return 1", capability: "fs:read_json" });
  expect(two.error).toMatchObject({ code: "arguments_invalid", message: "Give at most one of code and capability" });
  expect((await execute(client, { capability: "fs:none" })).error?.message).toBe("Capability not found: fs:none");
  expect((await execute(client, { capability: "fs:read_json", context: {} })).mode).toBe("call_by_name");
  expect((await execute(client, { code: "return 2", context: { any: 1 } })).mode).toBe("direct");
  expect((await execute(client, { context: { any: 1 } })).mode).toBe("speculation");
  expect((await execute(client, {})).mode).toBe("suggestion");
  // the standard library lists its tools under their prefixes, each with its own schema
  const library = (await listNames(client)).filter((name) => /^(?:dns|meta|learn)__/.test(name));
  for (const name of library) {
    const wrong = await client.callTool({ name, arguments: { no_such_field: true } });
    expect([name, wrong.isError]).toEqual([name, true]);
  }
  expect(library.length).toBeGreaterThan(14);
});
