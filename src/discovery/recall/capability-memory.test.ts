import { expect, test } from "vitest";
import { openTestDatabase } from "../../../test/support/databases.ts";
import { language, seedFindable, toolDocument } from "../../../test/support/discovery-scene.ts";
import type { Db } from "../../db/client.ts";
import type { Scope } from "../../registry/scope.ts";
import { bumpScope } from "../../registry/scope-version-store.ts";
import { Discovery } from "../discovery.ts";
import { findGroup } from "./decision-store.ts";

const scope: Scope = { org: "acme", project: "shop" };
const tools = [
  toolDocument("shop:return_items", "Return the items of an order"),
  toolDocument("shop:cancel_order", "Cancel an order that is pending"),
];

function open(db: Db): Discovery {
  const log = { warn() {} };
  return new Discovery({ db, tools: () => tools, openLanguage: () => language, embedder: undefined, log });
}

const call = (tool: string) => [{ tool, argumentNames: ["order_id"] }];

async function learn(db: Db, subject: string, intents: readonly string[]): Promise<void> {
  const rows = intents.map((intent) => ({ ...scope, subject, intent, intent_hash: intent }));
  await db.insertInto("discovery_intent").values(rows).execute();
}

async function rank(discovery: Discovery, intent: string, principal?: string): Promise<string[]> {
  const { ranked } = await discovery.search({ scope, principal }, intent, {
    accept: ({ kind }) => kind === "capability",
  });
  return ranked.map(({ document }) => document.id);
}

test("every intent counts, however many there are, and values do not", async () => {
  await using client = await openTestDatabase("pglite");
  const { db } = client;
  const one = await seedFindable(db, scope, { name: "one", description: "first", calls: call("shop:return_items") });
  const two = await seedFindable(db, scope, { name: "two", description: "second", calls: call("shop:cancel_order") });
  await learn(db, one, ["water the plants of Ann"]);
  await learn(
    db,
    one,
    Array.from({ length: 30 }, (_, at) => `give back thing number ${"abcdef".repeat(at)}`),
  );
  await learn(db, two, ["stop the delivery of #W1 for Bob"]);
  await using discovery = open(db);
  expect(await rank(discovery, "water the plants of Kowalski")).toEqual([one, two]);
  expect(await rank(discovery, "stop the delivery of #W77 for Ann")).toEqual([two, one]);
});

test("new intents change the next search; a restart changes nothing", async () => {
  await using client = await openTestDatabase("pglite");
  const { db } = client;
  const one = await seedFindable(db, scope, { name: "one", description: "first", calls: call("shop:return_items") });
  const two = await seedFindable(db, scope, { name: "two", description: "second", calls: call("shop:cancel_order") });
  await using discovery = open(db);
  const scores = async (from: Discovery): Promise<unknown> =>
    (await from.search({ scope, principal: undefined }, "undo my purchase")).recollections;
  await rank(discovery, "undo my purchase");
  for (const [id, intent] of [
    [one, "send the lamp back"],
    [two, "undo the purchase of yesterday"],
    [one, "return the lamp"],
    [two, "I do not want the order any more"],
  ] as const) {
    await learn(db, id, [intent]);
    await scores(discovery);
  }
  expect(await rank(discovery, "undo my purchase")).toEqual([two, one]);
  await using restarted = open(db);
  expect(await scores(restarted)).toEqual(await scores(discovery));
});

test("forgets capabilities that are gone, and follows new versions and visibility", async () => {
  await using client = await openTestDatabase("pglite");
  const { db } = client;
  const me = "018f0000-0000-7000-8000-000000000001";
  const one = await seedFindable(db, scope, { name: "one", description: "first", calls: call("shop:return_items") });
  const two = await seedFindable(db, scope, { name: "two", description: "second", calls: call("shop:return_items") });
  await learn(db, one, ["water the plants"]);
  await learn(db, two, ["feed the cat"]);
  await using discovery = open(db);
  expect(await rank(discovery, "feed the cat", me)).toEqual([two, one]);
  const change = (changes: object): Promise<void> =>
    db.transaction().execute(async (tx) => {
      await tx.updateTable("capability_records").set(changes).where("id", "=", two.slice("cap:".length)).execute();
      await bumpScope(tx, scope);
    });
  const seen = async (): Promise<unknown> => {
    const { recollections } = await discovery.search({ scope, principal: me }, "feed the cat");
    return [...recollections.keys()];
  };
  await change({ visibility: "private" });
  expect(await seen()).toEqual([one]);
  await change({ visibility: "project" });
  expect(await seen()).toEqual([one, two]);
  await change({ deleted_at: new Date() });
  expect(await seen()).toEqual([one]);
});

test("a capability without intents is found by its description", async () => {
  await using client = await openTestDatabase("pglite");
  const { db } = client;
  await seedFindable(db, scope, { name: "one", description: "Feed the cat" });
  const two = await seedFindable(db, scope, { name: "two", description: "Water the plants" });
  await using discovery = open(db);
  expect((await rank(discovery, "water my plants"))[0]).toBe(two);
});

test("a later variant has the group of the first, also where that had none when it was suggested", async () => {
  await using client = await openTestDatabase("pglite");
  const { db } = client;
  const one = await seedFindable(db, scope, { name: "one", description: "Feed the cat" });
  await using discovery = open(db);
  const groups = async (): Promise<unknown> => {
    const { recollections } = await discovery.search({ scope, principal: undefined }, "feed the cat");
    return [...recollections.values()].map(({ group }) => group);
  };
  const first = one.slice("cap:".length);
  expect(await groups()).toEqual([first]);
  await db.updateTable("capability_records").set({ group_id: first }).execute();
  const two = await seedFindable(db, scope, { name: "two", description: "Feed a cat" });
  await db.updateTable("capability_records").set({ group_id: first }).execute();
  await db.transaction().execute((tx) => bumpScope(tx, scope));
  expect(await groups()).toEqual([first, first]);
  expect(await findGroup(db, scope.org, two.slice("cap:".length))).toBe(first);
});
