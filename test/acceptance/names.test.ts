import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute, type Executed } from "../support/execute.ts";
import { clientKinds, connectClient, type TestClient } from "../support/mcp-client.ts";
import { callCapability, callJson, listNames, shareNamesGateway } from "../support/names-scene.ts";
import { until } from "../support/pml.ts";

const scene = shareNamesGateway();

const warningsOf = (meta: Record<string, unknown>): unknown => meta["dev.pml/warnings"];

describe.each([
  { first: clientKinds[0], second: clientKinds[3] },
  { first: clientKinds[2], second: clientKinds[1] },
])("$first.transport ($first.era) beside $second.transport ($second.era)", ({ first, second }) => {
  const tag = `${first.transport}_${second.era}`;
  const wire = `cap__util__count_${tag}`;
  const stack = new AsyncDisposableStack();
  let one: TestClient;
  let two: TestClient;
  let before = 0;
  let made: Executed;
  let listedAtOnce: string[];
  beforeAll(async () => {
    one = stack.use(await connectClient(scene.home.path, first));
    two = stack.use(await connectClient(scene.home.path, second));
    await two.client.listTools();
    before = two.toolChanges.count;
    made = await execute(one.client, {
      code: `return { is: "first ${tag}", items: (await mcp.counting.list({ length: args.length })).items }`,
      args: { length: 2 },
      name: `util:count_${tag}`,
      description: `Counts for ${tag}`,
    });
    listedAtOnce = await listNames(one.client);
  });
  afterAll(() => stack.disposeAsync());

  test("[FR001] [FR020] [FR026] what one client names is in its list at once, whether or not anybody has been told yet", () => {
    expect(made).toMatchObject({ status: "success", capabilityName: `util:count_${tag}` });
    expect(listedAtOnce).toContain(wire);
  });

  test("[FR022] [FR023] [FR024] [FR025] the other client is told, and finds it with its prefix and schema", async () => {
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
  });

  test("[FR030] [13.5-AC3] [13.6-AC2] [13.6-AC6] it is called by both spellings of its name, and runs as that capability", async () => {
    for (const name of [wire, `cap:util:count_${tag}`]) {
      const { value, meta } = await callJson(two.client, name, { length: 3 });
      expect(value).toEqual({ is: `first ${tag}`, items: [0, 1, 2] });
      expect(meta["dev.pml/run"]).toMatchObject({ capability: `cap:util:count_${tag}`, version: 1 });
    }
  });

  test("[FR031] [13.7-AC1] [13.7-AC3] [13.7-AC5] [13.13-AC10] [TS-X6] a rename is told, the list has the new name alone, and the old one works and warns", async () => {
    const told = two.toolChanges.count;
    await callJson(one.client, "dns:rename", { name: `util:count_${tag}`, newName: `util:number_${tag}` });
    await until("the rename is told", () => two.toolChanges.count > told);
    const names = await listNames(two.client);
    expect(names).toContain(`cap__util__number_${tag}`);
    expect(names).not.toContain(wire);
    const old = await callJson(two.client, wire, { length: 1 });
    expect(old.value).toEqual({ is: `first ${tag}`, items: [0] });
    expect(warningsOf(old.meta)).toEqual([`Using deprecated alias "util:count_${tag}" → "util:number_${tag}"`]);
  });

  test("[FR047] [13.12-AC4] without a version the newest runs, with @v1 the first", async () => {
    await callJson(one.client, "dns:update", {
      name: `util:count_${tag}`,
      code: `return { is: "second ${tag}" }`,
      change_summary: "says second",
    });
    expect(await callCapability(two.client, `cap:util:count_${tag}`)).toEqual({ is: `second ${tag}` });
    expect(await callCapability(two.client, `${wire}@v1`, { length: 1 })).toEqual({ is: `first ${tag}`, items: [0] });
  });

  test("each of the changes was told once", async () => {
    await sleep(400); // time for any further notification
    // named, renamed, and another input schema: once each
    expect(two.toolChanges.count - before).toBe(3);
  });
});

describe("naming", () => {
  test("[FR002] [13.3-AC2] [S2-E1] a name of another form is refused before anything runs", async () => {
    const code = `await mcp.counting.add({ key: "invalid name" }); return 1`;
    for (const name of [
      "invalid name!",
      "FS:read_json",
      "fs:",
      "fs:read__json",
      "fs:read:json",
      `fs:${"x".repeat(48)}`,
    ]) {
      const invalid = await execute(scene.client, { code, name });
      expect(invalid.error?.message).toBe("Invalid capability name format. Expected: namespace:action_target");
    }
    expect(scene.home.calls()).not.toContain("add invalid name");
  });

  test("[FR004] [FR035] [13.3-AC1] [13.3-AC5] [S2-AC3] [S2-T2] the answer has name and FQDN, whichever way it ran", async () => {
    const made = await execute(scene.client, { code: "return 'read'", name: "fs:read_json" });
    expect(made).toMatchObject({ status: "success", capabilityName: "fs:read_json", warnings: [] });
    expect(made.capabilityFqdn).toMatch(/^local\.default\.fs\.read_json\.[0-9a-f]{4}$/);
    const called = await execute(scene.client, { capability: "fs:read_json" });
    expect(called).toMatchObject({ capabilityName: "fs:read_json", capabilityFqdn: made.capabilityFqdn });
    const planned = await execute(scene.client, {
      dag: { tasks: [{ id: "one", tool: "counting:list", arguments: { length: 1 } }] },
      name: "util:planned",
    });
    expect(planned).toMatchObject({ status: "success", capabilityName: "util:planned" });
    expect(planned.capabilityFqdn).toMatch(/^local\.default\.util\.planned\.[0-9a-f]{4}$/);
    const { value } = await callJson(scene.client, "dns:whois", { fqdn: planned.capabilityFqdn });
    expect(value).toMatchObject({ display_name: "util:planned" });
  });

  test("[S2-R1] the answer says what ran, how long, and where that can be read again", async () => {
    const answer = await execute(scene.client, { code: "return 'whole answer'" });
    expect(Object.keys(answer)).toEqual(
      expect.arrayContaining(["capabilityId", "version", "mode", "executionTimeMs", "dag", "traceId", "workflowId"]),
    );
    expect(answer).toMatchObject({ status: "success", result: "whole answer", mode: "direct", version: 1 });
  });

  test("[FR003] [13.3-AC4] [S2-E2] a name that is taken is refused before anything runs", async () => {
    await execute(scene.client, { code: "return 'first'", name: "fs:taken" });
    const taken = await execute(scene.client, {
      code: `await mcp.counting.add({ key: "never" }); return 2`,
      name: "fs:taken",
    });
    expect(taken.error?.message).toContain("Capability name 'fs:taken' already exists");
    expect(taken.error?.message).toContain("in scope local.default");
    expect(scene.home.calls()).not.toContain("add never");
    expect((await execute(scene.client, { capability: "fs:taken" })).result).toBe("first");
  });

  test("[13.3-AC3] [TS-X2] the eight standard namespaces are silent, another one warns, and none is inferred from the tools", async () => {
    for (const namespace of ["fs", "api", "db", "transform", "git", "shell", "ai", "util"]) {
      const standard = await execute(scene.client, { code: `return "${namespace}"`, name: `${namespace}:standard` });
      expect(standard).toMatchObject({ capabilityName: `${namespace}:standard`, warnings: [] });
    }
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

  test("a failed program holds no name", async () => {
    const failed = await execute(scene.client, { code: "throw new Error('bug')", name: "util:fixed_later" });
    expect(failed.status).toBe("error");
    const fixed = await execute(scene.client, { code: "return 'fixed'", name: "util:fixed_later" });
    expect(fixed.capabilityName).toBe("util:fixed_later");
  });

  let plain: Executed;
  beforeAll(async () => {
    plain = await execute(scene.client, { code: "return 'nobody named me'" });
  });

  test("[13.2-AC5] [13.3-AC6] [FR009] [S2-AC1] [S2-AC4] [S2-T3] a program without a name gets one of its hash, and another program another", async () => {
    const other = await execute(scene.client, { code: "return 'nor me'" });
    expect(plain.capabilityName).toMatch(/^unnamed_[0-9a-f]{8}$/);
    const hash = plain.capabilityName.slice("unnamed_".length);
    expect(plain.capabilityFqdn).toMatch(new RegExp(`^local\\.default\\.\\w+\\.exec_${hash}\\.${hash.slice(0, 4)}$`));
    expect(other.capabilityFqdn).not.toBe(plain.capabilityFqdn);
    expect(other.capabilityFqdn.slice(-4)).not.toBe(plain.capabilityFqdn.slice(-4));
  });

  test("[NFR004] [NFR005] [S2-AC2] [TS-G1] it runs by its temporary name, id and FQDN, and run again it is the same one", async () => {
    for (const capability of [plain.capabilityName, plain.capabilityId, plain.capabilityFqdn])
      expect((await execute(scene.client, { capability })).result).toBe("nobody named me");
    const again = await execute(scene.client, { code: "return 'nobody named me'" });
    expect(again).toMatchObject({ capabilityId: plain.capabilityId, version: 1 });
    const { value } = await callJson(scene.client, "dns:lookup", { name: plain.capabilityName });
    expect(value).toMatchObject({ usage_count: 5 });
  });

  test("[TS-X1] it is named later, once, and its temporary name leads there", async () => {
    const named = await execute(scene.client, { code: "return 'nobody named me'", name: "util:somebody" });
    expect(named).toMatchObject({ capabilityId: plain.capabilityId, capabilityName: "util:somebody" });
    const old = await execute(scene.client, { capability: plain.capabilityName });
    expect(old.warnings).toEqual([`Using deprecated alias "${plain.capabilityName}" → "util:somebody"`]);
    const again = await execute(scene.client, { code: "return 'nobody named me'", name: "util:else" });
    expect(again.warnings[0]).toContain("is the capability util:somebody already");
  });

  test("[DR1] [TS-O1] [13.12-AC2] [13.12-AC3] on_conflict makes a version or a suffix, with what was learned", async () => {
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
