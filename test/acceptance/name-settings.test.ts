import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import type { GatewayHome } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { callCapability, callJson, startNamesGateway } from "../support/names-scene.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { writeConfig } from "../support/upstream-servers.ts";

let home: GatewayHome;
let connected: TestClient;
let client: Client;
beforeAll(async () => {
  home = await startNamesGateway();
  connected = await connectClient(home.path);
  ({ client } = connected);
});
afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

async function restartWith(settings: Record<string, unknown>): Promise<void> {
  await connected[Symbol.asyncDispose]();
  await runPml(["down"], { home: home.path });
  const config = JSON.parse(readFileSync(join(home.path, "pml.json"), "utf8")) as Record<string, unknown>;
  writeConfig(home.path, { ...config, ...settings });
  await runJson(["up"], { home: home.path });
  connected = await connectClient(home.path);
  ({ client } = connected);
  await home.ready("counting");
}

/** The server counts its calls, so that an answer shows whether it was asked for it. */
const countOf = async (name: string, key: string): Promise<number> => {
  const answer = (await callCapability(client, name, { key })) as { count: number };
  return answer.count;
};
const tag = (name: string, marks: Record<string, unknown>): Promise<unknown> =>
  callJson(client, "dns:tag", { name, ...marks });

test("[TS-R2] answers of what only reads are used again as its record says, and for no longer", async () => {
  const reading = "return await mcp.counting.read({ key: args.key })";
  for (const [name, code] of [
    ["util:memoized", reading],
    ["util:persistent", `const answer = await mcp.counting.read({ key: args.key }); return answer`],
    ["util:writing", "return await mcp.counting.add({ key: args.key })"],
  ] as const)
    await execute(client, { name, code: code.replace(" // the same", ";"), args: { key: "first" } });
  expect(await countOf("cap:util:memoized", "a")).toBeLessThan(await countOf("cap:util:memoized", "a"));

  await tag("util:memoized", { cache_policy: "memoize", ttl: 3600 });
  await tag("util:writing", { cache_policy: "memoize", tags: ["writes"] });
  const cli = await runJson(["tag", "util:persistent", "--cache", "persistent"], { home: home.path });
  expect(cli).toMatchObject({ display_name: "util:persistent" });
  const { value: record } = await callJson(client, "dns:whois", { fqdn: "util:memoized" });
  expect(record).toMatchObject({ ttl: 3600, cache_policy: "memoize", usage_count: 3 });

  const kept = await countOf("cap:util:memoized", "a");
  expect(await countOf("cap:util:memoized", "a")).toBe(kept);
  expect(await countOf("cap:util:memoized", "b")).toBe(kept + 1);
  // an answer from memory is a use like any other
  const { value: used } = await callJson(client, "dns:whois", { fqdn: "util:memoized" });
  expect(used).toMatchObject({ usage_count: 6, success_count: 6 });
  expect(await countOf("cap:util:writing", "a")).toBeLessThan(await countOf("cap:util:writing", "a"));

  const lasting = await countOf("cap:util:persistent", "a");
  await restartWith({});
  expect(await countOf("cap:util:persistent", "a")).toBe(lasting);
  expect(await countOf("cap:util:memoized", "a")).not.toBe(kept);
  await callJson(client, "dns:update", {
    name: "util:persistent",
    code: `const { key } = args; return await mcp.counting.read({ key })`,
  });
  expect(await countOf("cap:util:persistent", "a")).toBeGreaterThan(lasting);

  await tag("util:memoized", { ttl: 1 });
  const brief = await countOf("cap:util:memoized", "c");
  await until("the answer is too old", async () => (await countOf("cap:util:memoized", "c")) > brief);
  await tag("util:memoized", { cache_policy: "none" });
  expect(await countOf("cap:util:memoized", "c")).toBeLessThan(await countOf("cap:util:memoized", "c"));
});

test("[TS-G3] where names are required a new program needs one, old ones go on working and can be named", async () => {
  const old = await execute(client, { code: "return (await mcp.counting.list({ length: 3 })).items" });
  expect(old.capabilityName).toMatch(/^unnamed_/);
  await restartWith({ naming: { required: true } });
  const before = await countOf("cap:util:writing", "before");
  const refused = await execute(client, { code: `return await mcp.counting.add({ key: "never" })` });
  expect(refused).toMatchObject({ status: "error", isError: true, error: { code: "capability_name_missing" } });
  expect(refused.error?.hint).toContain("naming.required");
  expect(await countOf("cap:util:writing", "after")).toBe(before + 1);

  const named = await execute(client, { code: "return 'named'", name: "util:named" });
  expect(named).toMatchObject({ status: "success", capabilityName: "util:named" });
  expect((await execute(client, { capability: old.capabilityId })).result).toEqual([0, 1, 2]);
  const { value } = await callJson<{ suggestions: { id: string; suggestedName: string }[] }>(
    client,
    "pml_curate_capabilities",
    { strategy: "suggest" },
  );
  const suggestion = value.suggestions.find(({ id }) => id === old.capabilityId);
  const renames = [{ id: old.capabilityId, name: suggestion?.suggestedName }];
  await callJson(client, "pml_curate_capabilities", { strategy: "apply", renames });
  expect((await execute(client, { capability: suggestion?.suggestedName })).result).toEqual([0, 1, 2]);
});
