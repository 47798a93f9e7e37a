import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { callCapability, callJson, listNames, shareNamesGateway } from "../support/names-scene.ts";
import { until } from "../support/pml.ts";

const scene = shareNamesGateway();

const code = (version: number): string => `return { version: ${version} }`;
const FQDN = /\b\w+\.\w+\.\w+\.[\w-]+\.[0-9a-f]{4}\b/;
const warningsOf = (meta: Record<string, unknown>): unknown => meta["dev.pml/warnings"];

const merging = `const { path, encoding = "utf-8" } = args; return { path, encoding, given: Object.keys(args) };`;
test("[FR007] [13.4-AC3] [S2-AC8] defaults of the schema are in the arguments that the program gets, unless they are given", async () => {
  await execute(scene.client, { code: merging, args: { path: "a.json" }, name: "fs:merge_defaults" });
  const { value } = await callJson(scene.client, "dns:lookup", { name: "fs:merge_defaults" });
  expect(value).toMatchObject({ parameters_schema: { properties: { encoding: { default: "utf-8" } } } });
  // A default inside the program does not add a key to its arguments.
  const answer = await execute(scene.client, { capability: "fs:merge_defaults", args: { path: "x.json" } });
  const merged = { path: "x.json", encoding: "utf-8", given: ["path", "encoding"] };
  expect(answer).toMatchObject({ mode: "call_by_name", result: merged });
  const { structuredContent } = await scene.client.callTool({
    name: "cap:fs:merge_defaults",
    arguments: { path: "y.json", encoding: "ascii" },
  });
  expect(structuredContent).toEqual({ path: "y.json", encoding: "ascii", given: ["path", "encoding"] });
});

test("[FR005] [FR008] [13.4-AC1] [S2-AC6] [S2-T1] [TS-P3] a capability runs by name with the arguments of this call, and refuses those of another type", async () => {
  await execute(scene.client, {
    code: "return (await mcp.counting.list({ length: args.length })).items",
    args: { length: 1 },
    name: "my-counter",
  });
  const answer = await execute(scene.client, { capability: "my-counter", args: { length: 3 } });
  expect(answer).toMatchObject({ mode: "call_by_name", result: [0, 1, 2], tasks: [{ tool: "counting:list" }] });
  const refused = await callJson(scene.client, "cap:my-counter", { length: "three" });
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("args.length")]);
  await execute(scene.client, { code: `return args.encoding ?? "utf-8"`, name: "fs:encoding" });
  const wrong = await callJson(scene.client, "cap:fs:encoding", { encoding: 5 });
  expect([wrong.isError, wrong.text]).toEqual([true, "args.encoding is 5, expected string"]);
});

test("[FR006] [13.4-AC2] [S2-AC7] a name leads to its FQDN and that record's code, and an action alone to nothing", async () => {
  const made = await Promise.all(
    ["fs", "db"].map((namespace) =>
      execute(scene.client, { code: `return "${namespace} twin"`, name: `${namespace}:twin` }),
    ),
  );
  for (const { capabilityName, capabilityFqdn, capabilityId, result } of made) {
    const called = await execute(scene.client, { capability: capabilityName });
    expect(called).toMatchObject({ capabilityFqdn, capabilityId, result });
    const { value } = await callJson(scene.client, "dns:lookup", { name: capabilityName });
    expect(value).toMatchObject({ fqdn: capabilityFqdn, id: capabilityId });
    const whole = await callJson(scene.client, "dns:whois", { fqdn: capabilityFqdn });
    expect(whole.value).toMatchObject({ code_snippet: `return ${JSON.stringify(result)}` });
  }
  await callJson(scene.client, "dns:update", { name: "fs:twin", code: "return 'other code'" });
  expect((await execute(scene.client, { capability: "fs:twin" })).result).toBe("other code");
  await execute(scene.client, { code: "return 'only one has this action'", name: "fs:only_child" });
  for (const action of ["twin", "only_child"])
    expect((await execute(scene.client, { capability: action })).error?.message).toBe(
      `Capability not found: ${action}`,
    );
});

test("[13.4-AC4] [13.5-AC4] [S2-AC9] [13.12-AC8] a name or version that is not there is an error that says so", async () => {
  expect((await execute(scene.client, { capability: "fs:unknown" })).error?.message).toBe(
    "Capability not found: fs:unknown",
  );
  const missing = await scene.client.callTool({ name: "cap:unknown:tool", arguments: {} });
  expect(missing).toMatchObject({
    isError: true,
    content: [{ type: "text", text: "Capability not found: unknown:tool" }],
  });
  await execute(scene.client, { code: "return 'one version'", name: "fs:one_version" });
  const version = await scene.client.callTool({ name: "cap:fs:one_version@v5", arguments: {} });
  expect(version.content).toEqual([{ type: "text", text: "Version v5 not found for fs:one_version" }]);
});

test("[13.4-AC5] [S2-AC10] every call counts, and a success as one", async () => {
  const failing = "if (args.fail) throw new Error('on purpose'); return 'counted'";
  await execute(scene.client, { code: failing, args: { fail: false }, name: "util:counted" });
  for (const fail of [false, true, true]) await execute(scene.client, { capability: "util:counted", args: { fail } });
  const { value } = await callJson(scene.client, "dns:whois", { fqdn: "util:counted" });
  expect(value).toMatchObject({ usage_count: 4, success_count: 2, success_rate: 0.5 });
});

test("[TS-X5] [FR021] a result is text and structured content, a failure is an error with its message", async () => {
  await execute(scene.client, {
    code: "if (args.fail) throw new Error('as asked'); return { ran: (await mcp.counting.list({ length: 1 })).items };",
    args: { fail: false },
    name: "util:both_forms",
  });
  const good = await scene.client.callTool({ name: "cap:util:both_forms", arguments: { fail: false } });
  expect(good).toMatchObject({
    content: [{ type: "text", text: JSON.stringify({ ran: [0] }) }],
    structuredContent: { ran: [0] },
  });
  expect(good.isError ?? false).toBe(false);
  const bad = await scene.client.callTool({ name: "cap:util:both_forms", arguments: { fail: true } });
  expect(bad).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringContaining("as asked") }],
  });
});

test("[TS-P1] [TS-P2] answers have names that can be called, and no code unless it is asked for", async () => {
  const mark = "nobody has to copy this";
  await execute(scene.client, {
    // longer than the excerpt that a search shows
    code: `const words = ["${"filler".repeat(100)}", "${mark}"]; return words[1];`,
    name: "util:no_copy",
    intent: "say that copying is over",
    description: "Says that copying is over",
  });
  const called = await callJson(scene.client, "pml_execute", { intent: "x", capability: "util:no_copy" });
  expect(called.value).toMatchObject({ capabilityName: "util:no_copy", result: mark });
  expect(called.text).not.toContain("filler");
  const search = { intent: "say that copying is over", filter: { type: "capability" } };
  type Found = { results: { name: string; callName: string }[] };
  const found = await callJson<Found>(scene.client, "pml_discover", search);
  const listed = await callJson(scene.client, "pml_list_capabilities", { pattern: "util:no_copy" });
  const looked = await callJson(scene.client, "dns:lookup", { name: "util:no_copy" });
  for (const { text } of [found, listed, looked])
    expect([text.includes("util:no_copy"), text.includes(mark)]).toEqual([true, false]);
  const [best] = found.value.results;
  expect(best?.name).toBe("util:no_copy");
  expect(await callCapability(scene.client, best?.callName ?? "")).toBe(mark);
  expect((await callJson(scene.client, "pml_discover", { ...search, include_code: true })).text).toContain(mark);
});

test("[FR027] [FR028] [FR029] [13.6-AC3] [13.6-AC4] [13.6-AC5] calls are counted as those of any server", async () => {
  const slow = "await new Promise((done) => setTimeout(done, 20)); return 'count me'";
  await execute(scene.client, { code: slow, name: "util:count_me" });
  await callCapability(scene.client, "cap__util__count_me");
  await callCapability(scene.client, "cap:util:count_me@v1");
  await scene.client.callTool({ name: "counting__read", arguments: { key: "a" } });
  let rows: Record<string, unknown>[] = [];
  await until("both calls are written", async () => {
    const all = await exportedRows(scene.home.path, "tool_usage");
    rows = all.filter((row) => row["tool_name"] === "cap:util:count_me");
    return rows.length === 2;
  });
  expect(rows).toMatchObject([
    { server_id: "pml-capabilities", outcome: "success" },
    { server_id: "pml-capabilities", outcome: "success" },
  ]);
  for (const { duration_ms: ms } of rows) expect(ms).toBeGreaterThanOrEqual(20);
  const stats = await callJson<{ tools: { server: string; tool: string; calls: number }[] }>(
    scene.client,
    "meta:stats",
  );
  expect(stats.value.tools).toContainEqual(
    expect.objectContaining({ server: "pml-capabilities", tool: "cap:util:count_me", calls: 2 }),
  );
  expect(stats.value.tools).toContainEqual(expect.objectContaining({ server: "counting", tool: "read" }));
  const { value } = await callJson<Record<string, number>>(scene.client, "dns:whois", { fqdn: "util:count_me" });
  expect(value["total_latency_ms"]).toBeGreaterThanOrEqual(60);
});

const advice = (alias: string): string =>
  `Deprecated: Using alias "${alias}" for capability "fs:load_settings". Update your code.`;

/** Deprecation messages about aliases in the daemon's log. */
const logged = (level: string): string[] =>
  readFileSync(join(scene.home.path, "daemon.log"), "utf8")
    .split("\n")
    .filter((line) => line.includes("load_settings"))
    .map((line) => JSON.parse(line) as { level: string; msg: string })
    .flatMap((entry) => (entry.level === level ? [entry.msg] : []));

describe("former names", () => {
  beforeAll(async () => {
    await execute(scene.client, { code: "return 'config'", name: "fs:read_config" });
    await execute(scene.client, { code: "return await capabilities.fs.read_config({})", name: "util:old_code" });
    await callJson(scene.client, "dns:rename", { name: "fs:read_config", newName: "fs:read_settings" });
    await callJson(scene.client, "dns:rename", { name: "fs:read_settings", newName: "fs:load_settings" });
  });

  test("[FR033] [13.4-AC6] [13.7-AC4] [S2-E3] a call by a former name is answered, with a warning, and logged with the advice to update the code", async () => {
    const used = await execute(scene.client, { capability: "fs:read_config" });
    const warning = 'Using deprecated alias "fs:read_config" → "fs:load_settings"';
    expect(used).toMatchObject({ result: "config", warnings: [warning] });
    const called = await callJson(scene.client, "cap:fs:read_settings");
    expect(warningsOf(called.meta)).toEqual(['Using deprecated alias "fs:read_settings" → "fs:load_settings"']);
    expect((await execute(scene.client, { capability: "fs:load_settings" })).warnings).toEqual([]);
    await callCapability(scene.client, "cap:util:old_code");
    // the second comes from the tool call, the third from the program
    expect(logged("warn")).toEqual([advice("fs:read_config"), advice("fs:read_settings"), advice("fs:read_config")]);
  });

  test("[FR032] [13.7-AC2] [13.7-AC6] [TS-H1] former names are rows that point at the record, never at each other, with the history of renames", async () => {
    const record = await callJson<{ id: string; aliases: string[] }>(scene.client, "dns:whois", {
      fqdn: "fs:load_settings",
    });
    const aliases = (await exportedRows(scene.home.path, "capability_aliases")).filter(
      (row) => row["record_id"] === record.value.id,
    );
    expect(new Set(aliases.map((row) => row["alias"]))).toEqual(new Set(record.value.aliases));
    const names = aliases.filter((row) => row["kind"] === "name").map((row) => row["alias"]);
    expect(names).toEqual(expect.arrayContaining(["fs:read_config", "fs:read_settings"]));
    const history = await exportedRows(scene.home.path, "capability_rename_history");
    const renames = history.filter((row) => row["record_id"] === record.value.id);
    expect(renames).toMatchObject([
      { old_name: "fs:read_config", new_name: "fs:read_settings", renamed_via: "agent" },
      { old_name: "fs:read_settings", new_name: "fs:load_settings", renamed_via: "agent" },
    ]);
    for (const { renamed_by: by, renamed_at: at } of renames)
      expect([typeof by, Number.isNaN(Date.parse(String(at)))]).toEqual(["string", false]);
  });

  test("[FR034] FQDNs are in no list, description, result of a capability, error or sandbox", async () => {
    const { capabilityFqdn } = await execute(scene.client, {
      code: "if (args.fail) throw new Error('inner'); return 1",
      args: { fail: false },
      name: "util:inside",
      description: "Fails when told to",
    });
    expect(capabilityFqdn).toMatch(FQDN);
    const inside = `
    const seen = Object.keys(globalThis);
    const note = (error) => void seen.push([error.name, error.code, error.message, error.stack, { ...error }]);
    await capabilities.util.inside({ fail: true }).catch(note);
    await capabilities.util.inside({ fail: 5 }).catch(note);
    await capabilities["util:inside@v9"]({}).catch(note);
    await capabilities.util.insidious({}).catch(note);
    return JSON.stringify(seen);`;
    const answers = await Promise.all([
      scene.client.listTools(),
      execute(scene.client, { code: inside }).then(({ status, result }) => ({ status, result })),
      scene.client.callTool({ name: "cap:util:inside", arguments: { fail: false } }),
      scene.client.callTool({ name: "cap:util:inside", arguments: { fail: true } }),
      scene.client.callTool({ name: "cap:util:inside", arguments: { fail: 5 } }),
      scene.client.callTool({ name: "cap:util:inside@v9", arguments: {} }),
      scene.client.callTool({ name: "cap:util:insidious", arguments: {} }),
      scene.client.callTool({ name: "cap:fs:read_config", arguments: {} }),
      execute(scene.client, { capability: "util:insidious" }),
      execute(scene.client, { code: "return 3", name: "util:inside" }),
    ]);
    expect(answers[1]).toMatchObject({ status: "success", result: expect.stringContaining("inner") });
    for (const answer of answers) expect(JSON.stringify(answer)).not.toMatch(FQDN);
  });
});

describe("after a restart", () => {
  let oldFqdn: string;
  beforeAll(async () => {
    const accepted = { callName: "counting:list", args: { length: 2 } };
    const made = await execute(scene.client, { accept_suggestion: accepted, name: "util:two_numbers" });
    if (made.status !== "success") throw new Error(JSON.stringify(made));

    const first = await execute(scene.client, { code: code(1), name: "db:versions", version_tag: "v1.0.0" });
    oldFqdn = first.capabilityFqdn;
    await callJson(scene.client, "dns:update", { name: "db:versions", code: code(2), version_tag: "v1.2.0" });
    await callJson(scene.client, "dns:update", { name: "db:versions", code: code(3) });
    await callJson(scene.client, "dns:rename", { name: "db:versions", newName: "db:history" });

    await execute(scene.client, { code: "return 'inner 1'", name: "util:inner" });
    await execute(scene.client, { code: `return await capabilities.util.inner({})`, name: "util:outer" });
    await execute(scene.client, {
      code: `return await capabilities["util:inner@latest"]({})`,
      name: "util:outer_latest",
    });
    await callJson(scene.client, "dns:update", { name: "util:inner", code: "return 'inner 2'" });
    await scene.restart();
  });

  test("[FR007] [S2-AC8] arguments that a tool was named with are its defaults", async () => {
    expect(await callCapability(scene.client, "cap:util:two_numbers")).toEqual({ items: [0, 1] });
    expect(await callCapability(scene.client, "cap:util:two_numbers", { length: 1 })).toEqual({ items: [0] });
  });

  test("[FR046] [13.12-AC5] [13.12-AC6] [TS-V1] versions are called by tag, by major, by date and as the latest, on names and FQDNs", async () => {
    expect(await listNames(scene.client)).toContain("cap__db__history");
    const today = new Date().toISOString().slice(0, 10);
    const expected: Record<string, number> = {
      "cap:db:history@v1": 2,
      "cap:db:history@v1.0.0": 1,
      "cap:db:history@latest": 3,
      "cap:db:history": 3,
      [`cap:db:history@${today}`]: 3,
      "cap:db:versions@v1.2.0": 2,
    };
    for (const [name, version] of Object.entries(expected))
      expect(await callCapability(scene.client, name)).toEqual({ version });
    const { value } = await callJson<{ fqdn: string }>(scene.client, "dns:lookup", { name: "db:history" });
    for (const fqdn of [oldFqdn, value.fqdn])
      for (const [specifier, version] of Object.entries({ "": 3, "@v1": 2, "@v1.0.0": 1, [`@${today}`]: 3 }))
        expect((await execute(scene.client, { capability: `${fqdn}${specifier}` })).result).toEqual({ version });
    for (const missing of ["v5", "v1.0.1", "2001-01-01"])
      expect((await execute(scene.client, { capability: `db:history@${missing}` })).error?.message).toBe(
        `Version ${missing} not found for db:history`,
      );
  });

  test("[TS-P4] what a capability was tested with stays, until it asks for the latest", async () => {
    expect(await callCapability(scene.client, "cap:util:outer")).toBe("inner 1");
    expect(await callCapability(scene.client, "cap:util:outer_latest")).toBe("inner 2");
    expect(await callCapability(scene.client, "cap:util:inner")).toBe("inner 2");
  });
});
