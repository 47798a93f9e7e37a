import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import { PmlStdServer, type StdParts } from "../../lib/std/mcp/mod.ts";
import { packageRoot } from "../../src/base/package-info.ts";
import type { CallContext } from "../../src/mcp/own-tools/own-tool.ts";
import { CapabilityServer } from "../../src/mcp/servers/capability-server.ts";
import { DEFAULT_SCOPE } from "../../src/registry/scope.ts";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { PROGRAMS, shareLibrary } from "../support/library-scene.ts";
import { callJson, listNames } from "../support/names-scene.ts";
import { until } from "../support/pml.ts";

const DNS = ["lookup", "query", "whois", "history", "fork", "merge", "rename", "tag"].map((name) => `dns__${name}`);
const META = ["tools", "servers", "stats"].map((name) => `meta__${name}`);
const LEARN = ["save", "curate", "feedback"].map((name) => `learn__${name}`);

const library = shareLibrary();

test("[13.5-AC2] [13.5-AC6] [13.6-AC1] [13.13-AC2] [FR053] [TS-L1] named capabilities stand in one list with real tools, with what they do", async () => {
  const { tools } = await library.client.listTools();
  expect(tools.map(({ name }) => name)).toContain("counting__list");
  const capabilities = tools.filter(({ name }) => name.startsWith("cap__"));
  expect(capabilities.map(({ name }) => name)).toEqual([
    "cap__api__drop_user",
    "cap__api__fetch_user",
    "cap__fs__read_json",
    "cap__fs__write_json",
    "cap__transform__validate_schema",
  ]);
  expect(capabilities.map(({ title }) => title)).toEqual(
    Object.keys(PROGRAMS)
      .toSorted()
      .map((name) => `cap:${name}`),
  );
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

test("[13.5-AC5] the input schema of a capability's tool is the schema of its parameters, whole", async () => {
  const described = `
    interface Input { path: string; depth?: number; mode: "fast" | "safe" }
    const { path, depth = 3, mode } = args as Input;
    return [path, depth, mode];`;
  await execute(library.client, { code: described, args: { path: "p", mode: "safe" }, name: "fs:described" });
  for (const name of ["fs:described", "fs:read_json", "api:drop_user"]) {
    const { tools } = await library.client.listTools();
    const tool = tools.find(({ title }) => title === `cap:${name}`);
    const { parameters_schema: parameters } = await library.call<{ parameters_schema: Schema }>("dns:whois", {
      fqdn: name,
    });
    expect(Object.keys(parameters.properties).length).toBeGreaterThan(0);
    expect(tool?.inputSchema).toEqual(parameters);
  }
  const { parameters_schema: parameters } = await library.call<{ parameters_schema: Schema }>("dns:whois", {
    fqdn: "fs:described",
  });
  expect(parameters.properties["depth"]).toMatchObject({ default: 3 });
  expect(parameters.required?.toSorted()).toEqual(["mode", "path"]);
});

interface Schema {
  readonly properties: Record<string, object>;
  readonly required?: string[];
}

test("[FR054] [FR056] [FR057] [13.13-AC3] [13.13-AC5] [13.13-AC7] the library stands in the list beside real tools, module by module", async () => {
  const listed = await listNames(library.client);
  expect(listed).toEqual(expect.arrayContaining([...DNS, ...META, ...LEARN, "counting__list"]));
});

test("[TS-L2] [TS-L3] [TS-L4] every tool of the library takes what its schema says and refuses anything else, by name", async () => {
  const { tools } = await library.client.listTools();
  for (const name of [...DNS, ...META, ...LEARN]) {
    const tool = tools.find((each) => each.name === name);
    expect(tool).toMatchObject({ inputSchema: { type: "object" }, description: expect.stringMatching(/\w+/) });
    const wrong = await callJson(library.client, name, { no_such_field: true });
    expect([name, wrong.isError, wrong.text]).toEqual([name, true, expect.stringContaining("no_such_field")]);
  }
});

test("[FR019] [FR052] [13.5-AC1] [13.13-AC1] the library is the server pml-std, capabilities the server pml-capabilities, in the files the documents name", async () => {
  for (const Server of [PmlStdServer, CapabilityServer])
    expect([typeof Server.prototype.listTools, typeof Server.prototype.callTool]).toEqual(["function", "function"]);
  const of = async (server: string): Promise<string[]> =>
    (await library.call<{ tools: { callName: string }[] }>("meta:tools", { server })).tools.map(
      ({ callName }) => callName,
    );
  expect(await of("pml-std")).toEqual(expect.arrayContaining([...DNS, ...META, ...LEARN]));
  expect(await of("pml-capabilities")).toContain("cap__fs__read_json");
  expect([await of("pml-std"), await of("pml-capabilities")].flat()).not.toContain("counting__list");
  await library.call("meta:servers");
  await library.call("cap:fs:read_json", { path: "by server" });
  let used: unknown[] = [];
  await until("both calls are written", async () => {
    const rows = await exportedRows(library.home.path, "tool_usage");
    used = rows.map(({ server_id: server, tool_name: tool }) => `${String(server)} ${String(tool)}`);
    return used.includes("pml-std meta:servers") && used.includes("pml-capabilities cap:fs:read_json");
  });
});

test("[FR058] [13.13-AC6] [13.13-AC8] each prefix leads to its module, which refuses what it does not have", async () => {
  expect(await library.call("dns:lookup", { name: "api:fetch_user" })).toMatchObject({
    display_name: "api:fetch_user",
  });
  expect(await library.call("meta:servers")).toMatchObject({ servers: [{ name: "counting" }] });
  expect(await library.call("learn:feedback", { name: "api:drop_user", success: true })).toMatchObject({
    display_name: "api:drop_user",
  });
  expect(await library.call("cap:fs:read_json", { path: "routed" })).toEqual({ path: "routed", text: "{}" });
  // An action that several modules could mean is answered by the one whose prefix it has, or by none.
  for (const name of ["dns:feedback", "meta:lookup", "learn:servers", "cap:lookup", "lookup", "pml:lookup"]) {
    const answer = await callJson(library.client, name, { name: "fs:read_json" }).catch((error: unknown) => ({
      isError: true,
      text: String(error),
    }));
    expect([name, answer.isError, answer.text]).toEqual([name, true, expect.stringMatching(/not found|Unknown tool/)]);
  }
});

test("[13.13-AC6] the library's own server hands a call on to the module of its prefix", async () => {
  const looked: string[] = [];
  const registry = {
    lookup: (_asker: unknown, name: string) => Promise.reject(new Error(`asked ${looked.push(name)}`)),
  };
  const parts = { registry, scope: DEFAULT_SCOPE, capabilities: {}, facts: {} } as unknown as StdParts;
  const server = new PmlStdServer(parts);
  const context = { signal: new AbortController().signal } as CallContext;
  await expect(server.callTool("dns:lookup", { name: "fs:a" }, context)).rejects.toThrow("asked 1");
  expect(looked).toEqual(["fs:a"]);
  await expect(server.callTool("dns:feedback", {}, context)).rejects.toThrow('There is no tool "dns:feedback"');
  await expect(server.callTool("mail:send", {}, context)).rejects.toThrow('There is no tool "mail:send"');
});

test("[AR4] a real server, the library and capabilities are listed, called, refused and recorded in the same way", async () => {
  await execute(library.client, { name: "util:like_real", code: `return { key: args.key ?? "k" }` });
  const { tools } = await library.client.listTools();
  const subjects = [
    { server: "counting", tool: "read", canonical: "counting:read", good: { key: "k" }, bad: { key: 5 } },
    {
      server: "pml-std",
      tool: "dns:lookup",
      canonical: "dns:lookup",
      good: { name: "fs:read_json" },
      bad: { name: 5 },
    },
    {
      server: "pml-capabilities",
      tool: "cap:util:like_real",
      canonical: "cap:util:like_real",
      good: { key: "p" },
      bad: { key: 5 },
    },
  ];
  for (const { canonical, good, bad } of subjects) {
    const wire = canonical.replaceAll(":", "__");
    const listed = tools.find(({ name }) => name === wire);
    expect(listed).toMatchObject({
      _meta: { "dev.pml/canonicalName": canonical },
      description: expect.stringMatching(/\w+/),
      inputSchema: { type: "object", properties: { [Object.keys(good)[0] ?? ""]: {} } },
      annotations: { readOnlyHint: true },
    });
    for (const name of [wire, canonical]) {
      const { content, structuredContent, isError } = await library.client.callTool({ name, arguments: good });
      expect([isError ?? false, content[0]?.type]).toEqual([false, "text"]);
      expect(JSON.parse(content[0]?.type === "text" ? content[0].text : "")).toEqual(structuredContent);
    }
    const refused = await library.client.callTool({ name: wire, arguments: bad });
    expect([canonical, refused.isError, refused.content[0]?.type]).toEqual([canonical, true, "text"]);
  }
  await until("every call is written", async () => {
    const rows = await exportedRows(library.home.path, "tool_usage");
    return subjects.every(({ server, tool }) => {
      const outcomes = rows.filter((row) => row["server_id"] === server && row["tool_name"] === tool);
      return ["success", "error"].every((outcome) => outcomes.some((row) => row["outcome"] === outcome));
    });
  });
});

const exportsOf = (file: string) =>
  parseSync(file, readFileSync(file, "utf8")).module.staticExports.flatMap(({ entries }) => entries);

test("[13.13-AC9] the types module exports the four types, and each is declared where it points", () => {
  const folder = join(packageRoot, "lib", "std", "mcp");
  const exported = exportsOf(join(folder, "types.ts"));
  expect(new Set(exported.map(({ exportName }) => exportName.name))).toEqual(
    new Set(["CapabilityRecord", "CapabilityAlias", "CapabilityVersion", "CurationSuggestion"]),
  );
  for (const { exportName, moduleRequest, isType } of exported) {
    const declared = exportsOf(join(folder, moduleRequest?.value ?? ""));
    expect([exportName.name, isType, declared.map((each) => each.exportName.name)]).toEqual([
      exportName.name,
      true,
      expect.arrayContaining([exportName.name]),
    ]);
  }
});

test("[FR048] [FR049] [FR051] [TS-F1] [TS-M1] fork copies with provenance, merge makes a pipeline that runs", async () => {
  const fork = await library.call<{ fqdn: string; forked_from: string }>("dns:fork", {
    source: "cap:fs:read_json",
    name: "fs:read_json_custom",
  });
  expect(fork.forked_from).toMatch(/^local\.default\.fs\.read_json\./);
  expect(await listNames(library.client)).toContain("cap__fs__read_json_custom");
  await library.call("dns:update", {
    name: "fs:read_json_custom",
    code: `return { path: args.path, text: "custom" };`,
  });
  expect((await execute(library.client, { capability: "fs:read_json", args: { path: "p" } })).result).toMatchObject({
    text: "{}",
  });
  const merged = await library.call("dns:merge", {
    sources: ["cap:fs:read_json_custom", "transform:validate_schema"],
    name: "fs:read_validated_json",
  });
  expect(merged).toMatchObject({ display_name: "fs:read_validated_json", state: "draft" });
  expect(await library.call("cap:fs:read_validated_json", { path: "q.json" })).toEqual({ valid: true, path: "q.json" });
  expect(await listNames(library.client)).toContain("cap__fs__read_validated_json");
});

test("[13.13-AC12] feedback adds to uses, successes and time, each as it was told", async () => {
  type Figures = { usage_count: number; success_count: number; total_latency_ms: number };
  const figures = async (): Promise<Figures> => {
    const { usage_count, success_count, total_latency_ms } = await library.call<Figures>("dns:whois", {
      fqdn: "api:drop_user",
    });
    return { usage_count, success_count, total_latency_ms };
  };
  const { usage_count: uses, success_count: successes, total_latency_ms: time } = await figures();
  const answer = await library.call("learn:feedback", { name: "api:drop_user", success: true, latency_ms: 45 });
  const once = { usage_count: uses + 1, success_count: successes + 1, total_latency_ms: time + 45 };
  expect(answer).toMatchObject(once);
  expect(await figures()).toEqual(once);
  await library.call("learn:feedback", { name: "api:drop_user", success: false, latency_ms: 5 });
  expect(await figures()).toEqual({ usage_count: uses + 2, success_count: successes + 1, total_latency_ms: time + 50 });
  await library.call("learn:feedback", { name: "api:drop_user", success: true });
  expect(await figures()).toEqual({ usage_count: uses + 3, success_count: successes + 2, total_latency_ms: time + 50 });
});

test("[13.13-AC11] [A28] [A29] tags are replaced; archive takes out of lists and out of use, and restore brings back", async () => {
  await library.call("dns:tag", { name: "api:fetch_user", tags: ["io", "json", "config"] });
  expect(await library.call("dns:whois", { fqdn: "api:fetch_user" })).toMatchObject({ tags: ["io", "json", "config"] });
  await library.call("learn:archive", { name: "api:fetch_user" });
  expect(await listNames(library.client)).not.toContain("cap__api__fetch_user");
  const archived = await library.client.callTool({ name: "cap:api:fetch_user", arguments: {} });
  expect(archived).toMatchObject({ isError: true, content: [{ text: "api:fetch_user is archived" }] });
  await library.call("learn:restore", { name: "api:fetch_user" });
  expect(await library.call("cap:api:fetch_user")).toEqual([0]);
});

test("[FR055] [13.13-AC4] meta tells of tools, servers and use", async () => {
  const { tools, total } = await library.call<{ tools: { name: string; server: string }[]; total: number }>(
    "meta:tools",
  );
  expect(total).toBe(tools.length);
  expect(tools).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: "pml_execute", server: "pml" }),
      expect.objectContaining({ name: "dns:lookup", server: "pml-std" }),
      expect.objectContaining({ name: "cap:fs:read_json", server: "pml-capabilities", callName: "cap__fs__read_json" }),
      expect.objectContaining({ name: "counting:list", server: "counting" }),
    ]),
  );
  const { servers } = await library.call<{ servers: unknown[] }>("meta:servers");
  expect(servers).toMatchObject([{ name: "counting", state: "ready", tools: 7 }]);
  const stats = await library.call<{ tools: unknown[] }>("meta:stats");
  expect(stats).toMatchObject({ days: 30, capabilities: { unnamed: 0 } });
  expect(stats.tools).toContainEqual(expect.objectContaining({ server: "pml-std", tool: "dns:lookup" }));
  const unknown = await library.client
    .callTool({ name: "dns:nothing", arguments: {} })
    .catch((error: unknown) => error);
  expect(unknown instanceof Error ? unknown.message : JSON.stringify(unknown)).toContain("dns:nothing");
});

test("[FR017] [FR018] [13.11-AC7] what pml_discover finds can be called by its name", async () => {
  const { results } = await library.call<{ results: { name: string; callName: string }[] }>("pml_discover", {
    intent: "transform validate schema",
    filter: { type: "capability" },
  });
  expect(results[0]).toMatchObject({ name: "transform:validate_schema" });
  for (const name of [results[0]?.callName ?? "", `cap:${results[0]?.name}`])
    expect(await library.call(name, { path: "found.json", text: "x" })).toMatchObject({ valid: true });
});
