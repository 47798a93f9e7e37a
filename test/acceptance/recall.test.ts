/** Capabilities found by what they were used for: order, ready calls, confidence, and what is run unasked. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DiscoverAnswer } from "../../src/contract/discover.ts";
import { callJson } from "../support/names-scene.ts";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { execute, type Executed } from "../support/execute.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";

let scene: CountingScene;
let connected: TestClient;

const LIST = `return (await mcp.counting.list({ length: args.length })).items`;
const READ = `return await mcp.counting.read({ key: args.key })`;
const TOKEN_CHARACTERS = 4;

beforeAll(async () => {
  scene = await openCountingScene({ discovery: { tier: "lite" } }, () => ({}));
  connected = await connectClient(scene.home.path);
});

afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const run = (request: Record<string, unknown>): Promise<Executed> => execute(connected.client, request);

async function restart(): Promise<void> {
  await connected[Symbol.asyncDispose]();
  await scene.restart();
  connected = await connectClient(scene.home.path);
}

const tokens = (value: unknown): number => JSON.stringify(value).length / TOKEN_CHARACTERS;

describe("a capability that was used before", () => {
  beforeAll(async () => {
    for (const length of [2, 3, 5])
      await run({ intent: `Give Ann the first ${length} numbers`, code: LIST, args: { length }, name: "util:first" });
    for (const key of ["k1", "k22"])
      await run({ intent: `What is kept under ${key}?`, code: READ, args: { key }, name: "util:look_up" });
  });

  test("comes first in other words and with other values, with a ready call, in 400 tokens, also after a restart", async () => {
    const intent = "Give Kowalski the first 7 numbers";
    const before = await run({ intent });
    const [best] = before.suggestions.capabilities;
    expect(best).toMatchObject({
      callName: "cap:util:first",
      takes: "{ length: number }",
      call: { capability: "cap:util:first", args: { length: 7 } },
      sources: { length: "span" },
    });
    expect(best).not.toHaveProperty("missing");
    expect(tokens(before)).toBeLessThanOrEqual(400);
    await restart();
    expect(await run({ intent })).toEqual(before);
    expect(await run({ intent, ...best?.call })).toMatchObject({ status: "success", result: [0, 1, 2, 3, 4, 5, 6] });
    const unclear = await run({ intent: "What is kept there?" });
    expect(unclear.suggestions.capabilities[0]).toMatchObject({ callName: "cap:util:look_up", missing: ["key"] });
  });

  test("has the same place in pml_discover, whose answer is as short unless more is asked for", async () => {
    for (const intent of ["Hand Bob the first 9 numbers", "What is kept under k333?"]) {
      const { value, text } = await callJson<DiscoverAnswer>(connected.client, "pml_discover", { intent });
      const found = value.results.filter(({ type }) => type === "capability").map(({ name }) => `cap:${name}`);
      expect(found.length).toBeGreaterThan(0);
      const { capabilities } = (await run({ intent })).suggestions;
      expect(found).toEqual(capabilities.slice(0, found.length).map(({ callName }) => callName));
      expect(text.length / TOKEN_CHARACTERS).toBeLessThanOrEqual(400);
      const full = await callJson<DiscoverAnswer>(connected.client, "pml_discover", { intent, detail: "full" });
      expect(full.value.results.map(({ name }) => name)).toEqual(
        expect.arrayContaining(value.results.map(({ name }) => name)),
      );
      expect(full.value.results[0]).toHaveProperty("inputSchema");
    }
  });

  test("is not run unasked before suggestions have proven right, however well it fits", async () => {
    const answer = await run({ intent: "Give Ann the first 3 numbers", context: { length: 3 } });
    expect(answer).toMatchObject({ status: "suggestions", mode: "speculation" });
    expect(answer.suggestions.capabilities[0]).toMatchObject({ callName: "cap:util:first" });
  });
});

const confidenceOf = async (): Promise<number> =>
  (await run({ intent: "What is kept under k4444?" })).suggestions.confidence;

test("confidence follows what agents ran after suggestions, and keeps it over a restart", async () => {
  const shipped = await confidenceOf();
  for (let round = 0; round < 20; round += 1) {
    const intent = `Give Ann the first ${round} numbers`;
    const [best] = (await run({ intent })).suggestions.capabilities;
    expect(await run({ intent, ...best?.call })).toMatchObject({ status: "success", capabilityName: "util:first" });
  }
  const learned = await confidenceOf();
  expect(learned).toBeGreaterThan(shipped);
  await restart();
  expect(await confidenceOf()).toBe(learned);
});
