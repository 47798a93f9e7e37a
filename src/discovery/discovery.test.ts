import { describe, expect, test } from "vitest";
import { OWNER, type Scope } from "../registry/scope.ts";
import { bumpScope } from "../registry/scope-version-store.ts";
import type { Db } from "../db/client.ts";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import { FakeModel, language, seedFindable, toolDocument } from "../../test/support/discovery-scene.ts";
import { Random } from "../../test/support/random.ts";
import { readEdges } from "../learning/edge-store.ts";
import { Discovery, type DiscoveryOptions } from "./discovery.ts";
import type { Ranked } from "./search.ts";
import { createSuggest, type Suggest } from "./suggest.ts";
import { Outcomes } from "./recall/outcomes.ts";
import { readKnownCapabilities, readPastRuns } from "./known-capability-store.ts";

const scope: Scope = { org: "acme", project: "shop" };
const viewer = { scope, principal: undefined };
const silent = { warn() {} };

const tools = [
  toolDocument("fs:read_file", "Read the contents of a file"),
  toolDocument("fs:write_file", "Write text to a file"),
  toolDocument("mail:send", "Send a message to people"),
  toolDocument("net:fetch", "Load a page of the web"),
];

function open(db: Db, more: Partial<DiscoveryOptions> = {}): Discovery {
  return new Discovery({
    db,
    tools: () => tools,
    openLanguage: () => language,
    embedder: undefined,
    log: silent,
    ...more,
  });
}

async function firstOf(discovery: Discovery, query: string): Promise<string | undefined> {
  return (await discovery.search(viewer, query)).ranked[0]?.document.id;
}

function placeOf(id: string, ranked: readonly Ranked[]): number {
  return ranked.findIndex(({ document }) => document.id === id);
}

async function untilTier(discovery: Discovery, tier: string): Promise<void> {
  await expect.poll(async () => (await discovery.status(viewer)).tier).toBe(tier);
}

async function learn(db: Db, subject: string, intent: string): Promise<void> {
  await db
    .insertInto("discovery_intent")
    .values({ ...scope, subject, intent, intent_hash: intent })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db
    .insertInto("discovery_tally")
    .values({ ...scope, subject, tag: "", uses: 4, successes: 4 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

describe.each(engines)("Discovery on %s", (engine) => {
  test("finds added and changed documents, not removed ones, and learns from uses, each with the next search", async () => {
    await using client = await openTestDatabase(engine);
    const { db } = client;
    await using discovery = open(db);
    expect(await firstOf(discovery, "send a message")).toBe("mail:send");
    const id = await seedFindable(db, scope, { name: "invoice_total", description: "Add up the invoices of a month" });
    expect(await firstOf(discovery, "sum of invoices")).toBe(id);
    await learn(db, "net:fetch", "check the zebra timetable");
    expect(await firstOf(discovery, "zebra timetable")).toBe("net:fetch");
    await db.transaction().execute(async (tx) => {
      await tx.updateTable("capability_records").set({ deleted_at: new Date() }).where("org", "=", "acme").execute();
      await bumpScope(tx, scope);
    });
    const { ranked, searched } = await discovery.search(viewer, "sum of invoices");
    expect(searched).toBe(tools.length);
    expect(ranked.map(({ document }) => document.id)).not.toContain(id);
    await using restarted = open(db);
    expect(await firstOf(restarted, "zebra timetable")).toBe("net:fetch");
  });

  test("tools used together in runs come up together, also after a restart", async () => {
    await using client = await openTestDatabase(engine);
    const { db } = client;
    await using discovery = open(db);
    const query = "read a file of a page";
    const before = placeOf("mail:send", (await discovery.search(viewer, query)).ranked);
    const edge = { ...scope, edge_type: "sequence", source: "observed", observed_count: 3 } as const;
    await db
      .insertInto("tool_edge")
      .values({ ...edge, from_id: "mail:send", to_id: "fs:read_file" })
      .execute();
    await learn(db, "fs:read_file", "open what I wrote");
    await using restarted = open(db);
    for (const each of [discovery, restarted]) {
      const { ranked } = await each.search(viewer, query);
      expect(ranked[0]?.document.id).toBe("fs:read_file");
      const after = placeOf("mail:send", ranked);
      expect(after).toBeLessThan(before);
      expect(ranked[after]?.why.graph?.text).toBe("used together with fs:read_file in 60 % of its uses");
    }
  });

  test("keeps vectors by provider and text, and computes each once", async () => {
    await using client = await openTestDatabase(engine);
    const first = new FakeModel("one");
    const second = new FakeModel("two");
    for (const embedder of [first, new FakeModel("one"), second]) {
      await using discovery = open(client.db, { embedder });
      await discovery.warmUp(viewer);
      await untilTier(discovery, "full");
      const texts = embedder.texts.length;
      expect(texts).toBe(embedder === first || embedder === second ? tools.length : 0);
      await discovery.search(viewer, "send something");
      await discovery.search(viewer, "send something", { limit: 1 });
      expect(embedder.texts.length).toBe(texts + 1);
    }
    const rows = await client.db.selectFrom("embedding_cache").select(["provider", "dimensions"]).execute();
    expect(new Set(rows.map(({ provider, dimensions }) => `${provider} ${dimensions}`))).toEqual(
      new Set(["one 256", "two 256"]),
    );
  });
});

test("search never waits for the model: words and word vectors answer until it is ready, and when it fails", async () => {
  await using client = await openTestDatabase("pglite");
  const embedder = new FakeModel("slow", false);
  await using discovery = open(client.db, { embedder });
  const tier = async (): Promise<string> => (await discovery.search(viewer, "send")).tier;
  expect(await tier()).toBe("lite");
  await expect.poll(async () => (await discovery.status(viewer)).model.waiting).toBe(0);
  expect(await tier()).toBe("lite");
  embedder.ready = true;
  expect(await tier()).toBe("full");
  await seedFindable(client.db, scope, { name: "fresh", description: "Not embedded yet" });
  await untilTier(discovery, "full");
  embedder.failing = true;
  expect((await discovery.search(viewer, "a new question")).tier).toBe("lite");
  await seedFindable(client.db, scope, { name: "late", description: "Cannot be embedded any more" });
  expect(await tier()).toBe("lite");
  await expect.poll(async () => (await discovery.status(viewer)).model.state).toBe("failed");
  await using bare = open(client.db, { openLanguage: () => ({ ...language, lite: undefined }) });
  expect(await bare.search(viewer, "send")).toMatchObject({
    tier: "lexical",
    ranked: [{ document: { id: "mail:send" } }],
  });
});

async function connect(db: Db, from: string, to: string): Promise<void> {
  await db
    .insertInto("tool_edge")
    .values({ ...scope, from_id: from, to_id: to, edge_type: "sequence", source: "observed", observed_count: 2 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function suggesting(db: Db, discovery: Discovery): Suggest {
  return createSuggest({
    findTool: (id) => tools.find((tool) => tool.id === id),
    searchFor: (principal) => (query, options) => discovery.search({ scope, principal }, query, options),
    readCapabilities: (principal = OWNER, ids) => readKnownCapabilities(db, { scope, principal }, ids),
    readRuns: (principal = OWNER, ids) => readPastRuns(db, { scope, principal }, ids),
    outcomes: new Outcomes(db, scope),
    readOutputSchemas: () => Promise.resolve(new Map()),
    readEdges: (ids) => readEdges(db, scope, ids),
    runAbove: 0.95,
  });
}

describe("a hidden document", () => {
  const me = "018f0000-0000-7000-8000-000000000001";
  const other = "018f0000-0000-7000-8000-000000000002";
  const WORDS = "send message file read web page invoice total parse report zebra calendar mail people text".split(" ");

  async function seedSome(db: Db, random: Random, where: { readonly hidden: boolean }): Promise<void> {
    for (let count = random.between(2, 5); count > 0; count -= 1) {
      const words = (): string => Array.from({ length: random.between(2, 7) }, () => random.pick(WORDS)).join(" ");
      const name = `c${random.between(0, 1_000_000_000)}`;
      const common = { name, description: words(), tags: [random.pick(WORDS)] };
      const kind = random.between(0, 3);
      const elsewhere = kind === 1 ? { org: "acme", project: "other" } : { org: "evil", project: "shop" };
      const id = !where.hidden
        ? await seedFindable(db, scope, { ...common, visibility: "private", createdBy: me })
        : kind === 0 || kind === 3
          ? await seedFindable(db, scope, {
              ...common,
              visibility: "private",
              ...(kind === 0 ? { createdBy: other } : {}),
            })
          : await seedFindable(db, elsewhere, { ...common, visibility: kind === 1 ? "project" : "org" });
      await learn(db, id, words());
      await connect(db, id, random.pick(tools).id);
    }
  }

  test("changes neither results nor scores nor reasons nor suggestions", async () => {
    await using client = await openTestDatabase("pglite");
    const { db } = client;
    for (let seed = 1; seed <= 6; seed += 1) {
      await client.execute(
        "DELETE FROM discovery_intent; DELETE FROM discovery_tally; DELETE FROM tool_edge; UPDATE capability_records SET state = 'archived'",
      );
      await db.transaction().execute((tx) => bumpScope(tx, scope));
      const random = new Random(seed);
      // enough intents for a common direction
      for (const { id } of tools)
        for (let use = 0; use < 6; use += 1) await learn(db, id, `${random.pick(WORDS)} ${use}`);
      await connect(db, "mail:send", "fs:read_file");
      await seedSome(db, random, { hidden: false });
      const ask = async (principal: string): Promise<string> => {
        await using discovery = open(db);
        const answers = [];
        for (const query of ["send a message", "invoice totl", "zebra", WORDS.join(" ")]) {
          const answer = await discovery.search({ scope, principal }, query, { contextTags: ["eu"] });
          answers.push({ ...answer, ranked: answer.ranked.map((each) => ({ ...each, why: each.why })) });
          const suggest = suggesting(db, discovery);
          for (const given of [undefined, {}])
            answers.push(await suggest({ intent: query, given, principal, contextTags: ["eu"], detail: "full" }));
        }
        return JSON.stringify(answers);
      };
      const before = [await ask(me), await ask("somebody")];
      for (const part of ['"graph":{"points"', '"capabilities":[{', '"reason":"No capability is surely meant'])
        expect(before[0]).toContain(part);
      await seedSome(db, random, { hidden: true });
      expect([await ask(me), await ask("somebody")]).toEqual(before);
      await using asOwner = open(db);
      const seen = await asOwner.search(viewer, WORDS.join(" "));
      expect(seen.searched).toBeGreaterThanOrEqual(JSON.parse(before[0] ?? "[]")[0].searched);
    }
  });
});
