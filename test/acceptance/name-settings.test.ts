import { expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { callCapability, callJson, shareNamesGateway } from "../support/names-scene.ts";
import { runJson, until } from "../support/pml.ts";

const scene = shareNamesGateway();

/** The server counts its calls, so that an answer shows whether it was cached. */
const countOf = async (name: string, key: string): Promise<number> => {
  const answer = (await callCapability(scene.client, name, { key })) as { count: number };
  return answer.count;
};
const tag = (name: string, marks: Record<string, unknown>): Promise<unknown> =>
  callJson(scene.client, "dns:tag", { name, ...marks });

test("[TS-R2] answers of what only reads are used again as its record says, and for no longer", async () => {
  const reading = "return await mcp.counting.read({ key: args.key })";
  for (const [name, code] of [
    ["util:memoized", reading],
    ["util:persistent", `const answer = await mcp.counting.read({ key: args.key }); return answer`],
    ["util:writing", "return await mcp.counting.add({ key: args.key })"],
  ] as const)
    await execute(scene.client, { name, code: code.replace(" // the same", ";"), args: { key: "first" } });
  expect(await countOf("cap:util:memoized", "a")).toBeLessThan(await countOf("cap:util:memoized", "a"));

  await tag("util:memoized", { cache_policy: "memoize", ttl: 3600 });
  await tag("util:writing", { cache_policy: "memoize", tags: ["writes"] });
  const cli = await runJson(["tag", "util:persistent", "--cache", "persistent"], { home: scene.home.path });
  expect(cli).toMatchObject({ display_name: "util:persistent" });
  const { value: record } = await callJson(scene.client, "dns:whois", { fqdn: "util:memoized" });
  expect(record).toMatchObject({ ttl: 3600, cache_policy: "memoize", usage_count: 3 });

  const kept = await countOf("cap:util:memoized", "a");
  expect(await countOf("cap:util:memoized", "a")).toBe(kept);
  expect(await countOf("cap:util:memoized", "b")).toBe(kept + 1);
  // a cached answer counts as a use
  const { value: used } = await callJson(scene.client, "dns:whois", { fqdn: "util:memoized" });
  expect(used).toMatchObject({ usage_count: 6, success_count: 6 });
  expect(await countOf("cap:util:writing", "a")).toBeLessThan(await countOf("cap:util:writing", "a"));

  const lasting = await countOf("cap:util:persistent", "a");
  await scene.restart({});
  expect(await countOf("cap:util:persistent", "a")).toBe(lasting);
  expect(await countOf("cap:util:memoized", "a")).not.toBe(kept);
  await callJson(scene.client, "dns:update", {
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
  const old = await execute(scene.client, { code: "return (await mcp.counting.list({ length: 3 })).items" });
  expect(old.capabilityName).toMatch(/^unnamed_/);
  await scene.restart({ naming: { required: true } });
  const before = await countOf("cap:util:writing", "before");
  const refused = await execute(scene.client, { code: `return await mcp.counting.add({ key: "never" })` });
  expect(refused).toMatchObject({ status: "error", isError: true, error: { code: "capability_name_missing" } });
  expect(refused.error?.hint).toContain("naming.required");
  expect(await countOf("cap:util:writing", "after")).toBe(before + 1);

  const named = await execute(scene.client, { code: "return 'named'", name: "util:named" });
  expect(named).toMatchObject({ status: "success", capabilityName: "util:named" });
  expect((await execute(scene.client, { capability: old.capabilityId })).result).toEqual([0, 1, 2]);
  const { value } = await callJson<{ suggestions: { id: string; suggestedName: string }[] }>(
    scene.client,
    "pml_curate_capabilities",
    { strategy: "suggest" },
  );
  const suggestion = value.suggestions.find(({ id }) => id === old.capabilityId);
  const renames = [{ id: old.capabilityId, name: suggestion?.suggestedName }];
  await callJson(scene.client, "pml_curate_capabilities", { strategy: "apply", renames });
  expect((await execute(scene.client, { capability: suggestion?.suggestedName })).result).toEqual([0, 1, 2]);
});
