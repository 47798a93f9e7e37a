import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { callCapability, callJson, listNames, shareNamesGateway } from "../support/names-scene.ts";
import { until } from "../support/pml.ts";

const scene = shareNamesGateway();

const code = (version: number): string => `return { version: ${version} }`;
const warningsOf = (meta: Record<string, unknown>): unknown => meta["dev.pml/warnings"];

describe("one name, two clients", () => {
  test.each([
    { first: clientKinds[0], second: clientKinds[3] },
    { first: clientKinds[2], second: clientKinds[1] },
  ])(
    "[FR001] [FR020] [FR022] [FR023] [FR024] [FR025] [FR026] [FR030] [FR031] [FR047] [13.5-AC3] [13.6-AC2] [13.6-AC6] [13.7-AC1] [13.7-AC3] [13.7-AC5] [13.12-AC4] [13.13-AC10] [TS-X6] $first.transport ($first.era) names it, $second.transport ($second.era) is told and calls it by every name",
    async ({ first, second }) => {
      const tag = `${first.transport}_${second.era}`;
      await using one = await connectClient(scene.home.path, first);
      await using two = await connectClient(scene.home.path, second);
      await two.client.listTools();
      const before = two.toolChanges.count;
      const wire = `cap__util__count_${tag}`;
      const made = await execute(one.client, {
        code: `return { is: "first ${tag}", items: (await mcp.counting.list({ length: args.length })).items }`,
        args: { length: 2 },
        name: `util:count_${tag}`,
        description: `Counts for ${tag}`,
      });
      expect(made).toMatchObject({ status: "success", capabilityName: `util:count_${tag}` });
      // at once, whether or not anybody has been told yet
      expect(await listNames(one.client)).toContain(wire);
      await until("the other client is told", () => two.toolChanges.count > before);
      const { tools } = await two.client.listTools();
      const tool = tools.find(({ name }) => name === wire);
      expect(tool).toMatchObject({
        title: `cap:util:count_${tag}`,
        description: `Counts for ${tag}`,
        inputSchema: { properties: { length: {} } },
        annotations: { readOnlyHint: true },
        _meta: { "dev.pml/canonicalName": `cap:util:count_${tag}` },
      });
      for (const name of [wire, `cap:util:count_${tag}`])
        expect(await callCapability(two.client, name, { length: 3 })).toEqual({ is: `first ${tag}`, items: [0, 1, 2] });

      const told = two.toolChanges.count;
      await callJson(one.client, "dns:rename", { name: `util:count_${tag}`, newName: `util:number_${tag}` });
      await until("the rename is told", () => two.toolChanges.count > told);
      const names = await listNames(two.client);
      expect(names).toContain(`cap__util__number_${tag}`);
      expect(names).not.toContain(wire);
      const old = await callJson(two.client, wire, { length: 1 });
      expect(old.value).toEqual({ is: `first ${tag}`, items: [0] });
      expect(warningsOf(old.meta)).toEqual([`Using deprecated alias "util:count_${tag}" → "util:number_${tag}"`]);

      await callJson(one.client, "dns:update", {
        name: `util:number_${tag}`,
        code: `return { is: "second ${tag}" }`,
        change_summary: "says second",
      });
      expect(await callCapability(two.client, `cap:util:number_${tag}`)).toEqual({ is: `second ${tag}` });
      const v1 = await callCapability(two.client, `cap__util__number_${tag}@v1`, { length: 1 });
      expect(v1).toEqual({ is: `first ${tag}`, items: [0] });
      await sleep(400); // whatever else there was to tell
      // named, renamed, and another input schema: once each
      expect(two.toolChanges.count - before).toBe(3);
    },
  );
});

describe("naming", () => {
  test("[FR002] [FR003] [FR004] [13.3-AC1] [13.3-AC2] [13.3-AC4] [13.3-AC5] [S2-E1] [S2-E2] [13.3-AC3] [FR035] [TS-X2] [S2-AC3] [S2-T2] [S2-R1] a name is checked before anything runs, and collides", async () => {
    const invalid = await execute(scene.client, { code: "return 1", name: "invalid name!" });
    expect(invalid.error?.message).toBe("Invalid capability name format. Expected: namespace:action_target");
    const made = await execute(scene.client, { code: "return 'read'", name: "fs:read_json" });
    expect(made).toMatchObject({ status: "success", capabilityName: "fs:read_json", warnings: [] });
    expect(made.capabilityFqdn).toMatch(/^local\.default\.fs\.read_json\.[0-9a-f]{4}$/);
    expect(Object.keys(made)).toEqual(
      expect.arrayContaining(["capabilityId", "version", "mode", "executionTimeMs", "dag", "traceId", "workflowId"]),
    );
    const taken = await execute(scene.client, {
      code: `await mcp.counting.add({ key: "never" }); return 2`,
      name: "fs:read_json",
    });
    expect(taken.error?.message).toContain("Capability name 'fs:read_json' already exists");
    expect(taken.error?.message).toContain("in scope local.default");
    const unknown = await execute(scene.client, { code: "return 'xyz'", name: "xyz:read_file" });
    expect(unknown).toMatchObject({ status: "success", capabilityName: "xyz:read_file" });
    expect(unknown.warnings[0]).toContain('Unknown namespace "xyz"');
    const bare = await execute(scene.client, {
      code: "return (await mcp.counting.list({ length: 1 })).items[0]",
      name: "my-config-reader",
    });
    expect(bare.capabilityFqdn).toMatch(/^local\.default\.counting\.my-config-reader\.[0-9a-f]{4}$/);
    expect(await callCapability(scene.client, "cap__my-config-reader")).toBe(0);
  });

  test("[13.2-AC5] [13.3-AC6] [FR009] [NFR004] [NFR005] [S2-AC1] [S2-AC2] [S2-AC4] [S2-T3] [TS-G1] [TS-X1] unnamed programs work by their temporary name and id, and a failed one holds no name", async () => {
    const failed = await execute(scene.client, { code: "throw new Error('bug')", name: "util:fixed_later" });
    expect(failed.status).toBe("error");
    const fixed = await execute(scene.client, { code: "return 'fixed'", name: "util:fixed_later" });
    expect(fixed.capabilityName).toBe("util:fixed_later");
    const plain = await execute(scene.client, { code: "return 'nobody named me'" });
    const other = await execute(scene.client, { code: "return 'nor me'" });
    expect(plain.capabilityName).toMatch(/^unnamed_[0-9a-f]{8}$/);
    expect(other.capabilityFqdn).not.toBe(plain.capabilityFqdn);
    for (const capability of [plain.capabilityName, plain.capabilityId, plain.capabilityFqdn])
      expect((await execute(scene.client, { capability })).result).toBe("nobody named me");
    const named = await execute(scene.client, { code: "return 'nobody named me'", name: "util:somebody" });
    expect(named).toMatchObject({ capabilityId: plain.capabilityId, capabilityName: "util:somebody" });
    const old = await execute(scene.client, { capability: plain.capabilityName });
    expect(old.warnings).toEqual([`Using deprecated alias "${plain.capabilityName}" → "util:somebody"`]);
    const again = await execute(scene.client, { code: "return 'nobody named me'", name: "util:else" });
    expect(again.warnings[0]).toContain("is the capability util:somebody already");
  });

  test("[DR1] [DR2] [TS-O1] [13.12-AC2] [13.12-AC3] on_conflict makes a version or a suffix, with what was learned", async () => {
    await execute(scene.client, { code: "return args.n ?? 1", name: "util:conflict", version_tag: "v1.0.0" });
    const suffix = await execute(scene.client, {
      code: "return 'other'",
      name: "util:conflict",
      on_conflict: "suffix",
    });
    expect(suffix.capabilityName).toBe("util:conflict_2");
    const version = await execute(scene.client, {
      code: "return (args.n ?? 1) * 10",
      name: "util:conflict",
      on_conflict: "version",
      version_tag: "v2.0.0",
      change_summary: "ten times as much",
      visibility: "project",
      tags: ["math"],
    });
    expect(version).toMatchObject({ result: 10, capabilityName: "util:conflict", version: 2 });
    const who = await callJson(scene.client, "dns:whois", { fqdn: version.capabilityFqdn });
    expect(who.value).toMatchObject({
      version: 2,
      version_tag: "v2.0.0",
      visibility: "project",
      tags: ["math"],
      usage_count: 2,
      success_count: 2,
    });
    expect((await execute(scene.client, { capability: "util:conflict@v1" })).result).toBe(1);
    expect((await execute(scene.client, { code: "return (args.n ?? 1) * 10" })).version).toBe(2);
  });

  test("[DR3] [TS-O3] a deleted name stays reserved and can be restored", async () => {
    await execute(scene.client, { code: "return 'gone'", name: "util:gone" });
    await callJson(scene.client, "learn:delete", { name: "util:gone" });
    expect(await listNames(scene.client)).not.toContain("cap__util__gone");
    const taken = await execute(scene.client, { code: "return 'new'", name: "util:gone" });
    expect(taken.error?.message).toMatch(/already exists .* reserved until \d{4}-\d\d-\d\d/);
    await callJson(scene.client, "learn:restore", { name: "util:gone" });
    expect(await callCapability(scene.client, "cap:util:gone")).toBe("gone");
  });
});

describe("calling by name", () => {
  test("[FR005] [FR006] [FR007] [FR008] [FR021] [13.4-AC1] [13.4-AC2] [13.4-AC3] [13.4-AC4] [13.4-AC5] [13.5-AC4] [S2-AC6] [S2-AC7] [S2-AC8] [S2-AC9] [S2-AC10] [S2-T1] [TS-P1] [TS-P2] [TS-P3] [TS-X5] [TS-S2] [TS-O2] defaults are merged, counters grow, unknown names say so", async () => {
    await execute(scene.client, {
      code: `const { path, encoding = "utf-8" } = args; return { path, encoding };`,
      args: { path: "a.json" },
      name: "fs:merge_defaults",
    });
    const answer = await execute(scene.client, { capability: "fs:merge_defaults", args: { path: "x.json" } });
    expect(answer).toMatchObject({ mode: "call_by_name", result: { path: "x.json", encoding: "utf-8" } });
    const { structuredContent } = await scene.client.callTool({
      name: "cap:fs:merge_defaults",
      arguments: { path: "y.json", encoding: "ascii" },
    });
    expect(structuredContent).toEqual({ path: "y.json", encoding: "ascii" });
    const crossing = "cap:local.default:fs:merge_defaults";
    expect(await callCapability(scene.client, crossing, { path: "z" })).toEqual({ path: "z", encoding: "utf-8" });
    const { value } = await callJson(scene.client, "dns:lookup", { name: "fs:merge_defaults" });
    expect(value).toMatchObject({ usage_count: 4, success_rate: 1 });
    expect((await execute(scene.client, { capability: "fs:unknown" })).error?.message).toBe(
      "Capability not found: fs:unknown",
    );
    const missing = await scene.client.callTool({ name: "cap:unknown:tool", arguments: {} });
    expect(missing).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "Capability not found: unknown:tool" }],
    });
    const version = await scene.client.callTool({ name: "cap:fs:merge_defaults@v5", arguments: {} });
    expect(version.content).toEqual([{ type: "text", text: "Version v5 not found for fs:merge_defaults" }]);
    const wrong = { path: "p", encoding: 5 };
    expect(await scene.client.callTool({ name: "cap:fs:merge_defaults", arguments: wrong })).toMatchObject({
      isError: true,
    });
  });

  test("[FR027] [FR028] [FR029] [13.6-AC3] [13.6-AC4] [13.6-AC5] calls are counted as those of any server", async () => {
    await execute(scene.client, { code: "return 'count me'", name: "util:count_me" });
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
    const stats = await callJson<{ tools: { server: string; tool: string; calls: number }[] }>(
      scene.client,
      "meta:stats",
    );
    expect(stats.value.tools).toContainEqual(
      expect.objectContaining({ server: "pml-capabilities", tool: "cap:util:count_me", calls: 2 }),
    );
    expect(stats.value.tools).toContainEqual(expect.objectContaining({ server: "counting", tool: "read" }));
    const { value } = await callJson<Record<string, number>>(scene.client, "dns:whois", { fqdn: "util:count_me" });
    expect(value["total_latency_ms"]).toBeGreaterThan(0);
  });

  test("[FR032] [FR033] [FR034] [13.4-AC6] [13.7-AC2] [13.7-AC4] [13.7-AC6] [TS-H1] [S2-E3] former names work without chains, warn, and are logged; FQDNs stay inside", async () => {
    await execute(scene.client, { code: "return 'config'", name: "fs:read_config" });
    await callJson(scene.client, "dns:rename", { name: "fs:read_config", newName: "fs:read_settings" });
    await callJson(scene.client, "dns:rename", { name: "fs:read_settings", newName: "fs:load_settings" });
    const used = await execute(scene.client, { capability: "fs:read_config" });
    const warning = 'Using deprecated alias "fs:read_config" → "fs:load_settings"';
    expect(used).toMatchObject({ result: "config", warnings: [warning] });
    const logged = 'Deprecated: Using alias "fs:read_config" for capability "fs:load_settings". Update your code.';
    expect(readFileSync(join(scene.home.path, "daemon.log"), "utf8")).toContain(JSON.stringify(logged).slice(1, -1));
    const record = await callJson<{ id: string; aliases: string[] }>(scene.client, "dns:whois", {
      fqdn: "fs:load_settings",
    });
    const aliases = (await exportedRows(scene.home.path, "capability_aliases")).filter(
      (row) => row["record_id"] === record.value.id,
    );
    expect(new Set(aliases.map((row) => row["alias"]))).toEqual(new Set(record.value.aliases));
    expect(aliases.filter((row) => row["kind"] === "name").map((row) => row["alias"])).toEqual(
      expect.arrayContaining(["fs:read_config", "fs:read_settings"]),
    );
    const history = await exportedRows(scene.home.path, "capability_rename_history");
    expect(history.filter((row) => row["record_id"] === record.value.id)).toMatchObject([
      { old_name: "fs:read_config", new_name: "fs:read_settings", renamed_via: "agent" },
      { old_name: "fs:read_settings", new_name: "fs:load_settings" },
    ]);
    const { tools } = await scene.client.listTools();
    expect(JSON.stringify(tools)).not.toContain("local.default.");
  });

  test("[FR045] [FR046] [13.12-AC1] [13.12-AC5] [13.12-AC6] [13.12-AC7] [13.12-AC8] [TS-V1] versions, names and aliases are the same after a restart", async () => {
    const made = await execute(scene.client, { code: code(1), name: "db:versions", version_tag: "v1.0.0" });
    await callJson(scene.client, "dns:update", { name: "db:versions", code: code(2), version_tag: "v1.2.0" });
    await callJson(scene.client, "dns:update", { name: "db:versions", code: code(3) });
    await callJson(scene.client, "dns:rename", { name: "db:versions", newName: "db:history" });
    await scene.restart();
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
    expect((await execute(scene.client, { capability: `${made.capabilityFqdn}@v1.0.0` })).result).toEqual({
      version: 1,
    });
    expect((await execute(scene.client, { capability: "db:history@v5" })).error?.message).toBe(
      "Version v5 not found for db:history",
    );
  });

  test("[TS-P4] what a capability was tested with stays, until it asks for the latest", async () => {
    await execute(scene.client, { code: "return 'inner 1'", name: "util:inner" });
    await execute(scene.client, { code: `return await capabilities.util.inner({})`, name: "util:outer" });
    await execute(scene.client, {
      code: `return await capabilities["util:inner@latest"]({})`,
      name: "util:outer_latest",
    });
    await callJson(scene.client, "dns:update", { name: "util:inner", code: "return 'inner 2'" });
    await scene.restart();
    expect(await callCapability(scene.client, "cap:util:outer")).toBe("inner 1");
    expect(await callCapability(scene.client, "cap:util:outer_latest")).toBe("inner 2");
    expect(await callCapability(scene.client, "cap:util:inner")).toBe("inner 2");
  });
});
