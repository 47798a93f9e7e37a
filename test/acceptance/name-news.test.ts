import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { connectEvery } from "../support/every-client.ts";
import { execute } from "../support/execute.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callCapability, callJson, startNamesGateway } from "../support/names-scene.ts";
import { until } from "../support/pml.ts";

/** Longer than any pending notification takes. */
const QUIET_MS = 400;

test("naming, renaming and archiving are told to every kind of client, once each [mcp-6]", async () => {
  await using home = await startNamesGateway();
  await using actor = await connectClient(home.path);
  await using clients = await connectEvery(home.path);
  for (const each of clients) await each.listTools();
  const steps: [string, () => Promise<unknown>][] = [
    ["named", () => execute(actor.client, { code: "return 1", name: "util:news" })],
    ["renamed", () => callJson(actor.client, "dns:rename", { name: "util:news", newName: "util:old_news" })],
    ["archived", () => callJson(actor.client, "learn:archive", { name: "util:old_news" })],
  ];
  for (const [step, change] of steps) {
    const before = clients.map(({ toolChanges }) => toolChanges.count);
    await change();
    await until(`all are told: ${step}`, () =>
      clients.every(({ toolChanges }, index) => toolChanges.count > (before[index] ?? 0)),
    );
    await sleep(QUIET_MS);
    for (const [index, { client, toolChanges }] of clients.entries())
      expect([step, client, toolChanges.count - (before[index] ?? 0)]).toEqual([step, client, 1]);
  }
});

test("every spelling of a capability's name reaches it; one that fits several names them [mcp-14]", async () => {
  await using home = await startNamesGateway();
  await using connected = await connectClient(home.path);
  const { client } = connected;
  await execute(client, { code: "return 'the first'", name: "util:old_spelling" });
  await callJson(client, "dns:rename", { name: "util:old_spelling", newName: "util:spell_it" });
  for (const spelling of [
    "cap:util:spell_it",
    "cap__util__spell_it",
    "cap:util:spell_it@v1",
    "cap__util__spell_it@latest",
    "cap:util:old_spelling",
    "cap__util__old_spelling",
    "CAP__UTIL__SPELL_IT",
    "cap.util.spell_it",
    "cap-util-spell-it",
  ])
    expect([spelling, await callCapability(client, spelling)]).toEqual([spelling, "the first"]);
  await execute(client, { code: "return 'the second'", name: "util:spell-it" });
  await expect(callCapability(client, "cap.util.spell.it")).rejects.toThrow(/Ambiguous .*util:spell-it.*util:spell_it/);
});
