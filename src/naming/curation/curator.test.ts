import { v7 as newId } from "uuid";
import { describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../../test/support/databases.ts";
import { CapabilityRegistry } from "../../registry/capability-registry.ts";
import { type Asker, DEFAULT_SCOPE, OWNER } from "../../registry/scope.ts";
import type { DatabaseClient } from "../../db/client.ts";
import { createEventBus, type PmlEvent } from "../../base/events.ts";
import { Curator } from "./curator.ts";
import { watchUnnamed } from "./watch-unnamed.ts";

const owner: Asker = { scope: DEFAULT_SCOPE, principal: OWNER };
const { signal } = new AbortController();

function prepare(): never {
  throw new Error("nothing is analysed here");
}

function onError(error: unknown): never {
  throw error;
}

interface Scene {
  readonly curator: Curator;
  readonly registry: CapabilityRegistry;
  readonly published: PmlEvent[];
}

function openScene(client: DatabaseClient): Scene {
  const policy = { strict: false, reserveDays: 30 };
  const registry = new CapabilityRegistry({ db: client.db, policy: () => policy, prepare });
  const events = createEventBus();
  const published: PmlEvent[] = [];
  events.subscribe((event) => published.push(event));
  return {
    curator: new Curator({ client, registry, events, model: undefined, sampling: false, minConfidence: 0.8 }),
    registry,
    published,
  };
}

interface Seed {
  readonly description?: string;
  readonly visibility?: "private" | "project";
  readonly intentBy?: readonly [principal: string, intent: string];
}

/** Saves a capability without a name and returns its id. */
async function seedUnnamed({ db }: DatabaseClient, seed: Seed): Promise<string> {
  const id = newId();
  const { org, project } = DEFAULT_SCOPE;
  const hash = id.replaceAll("-", "").slice(-8);
  const { description, visibility = "private" } = seed;
  const name = { display_name: `unnamed_${hash}`, namespace: "filesystem", action: `exec_${hash}`, hash };
  const fqdn = `${org}.${project}.filesystem.exec_${hash}.${hash}`;
  // All at once, as the product does: a watch that counts in between would see half a capability.
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto("capability_records")
      .values({ org, id, project, fqdn, ...name, state: "active", visibility, description: description ?? null })
      .execute();
    await tx
      .insertInto("capability_versions")
      .values({
        org,
        record_id: id,
        version: 1,
        source_kind: "code",
        code_snippet: "1",
        source_hash: id,
        tools_used: ["filesystem:read_text_file"],
      })
      .execute();
    await tx.insertInto("capability_stat").values({ org, record_id: id, usage_count: 1 }).execute();
  });
  if (seed.intentBy !== undefined) {
    const [principal, intent] = seed.intentBy;
    await db
      .insertInto("execution_run")
      .values({
        org,
        project,
        id: newId(),
        kind: "code",
        state: "succeeded",
        record_id: id,
        version: 1,
        source_hash: id,
        intent,
        principal,
        finished_at: new Date(),
      })
      .execute();
  }
  return id;
}

describe.each(engines)("curator on %s", (engine) => {
  test("one suggestion is pending per capability; a different one supersedes it, an equal one stays", async () => {
    await using client = await openTestDatabase(engine);
    const { curator } = openScene(client);
    const id = await seedUnnamed(client, { description: "read the license" });
    await curator.suggest({ asker: owner, filter: {}, signal });
    const [first] = await curator.pending(DEFAULT_SCOPE);
    await curator.suggest({ asker: owner, filter: {}, signal });
    expect(await curator.pending(DEFAULT_SCOPE)).toEqual([first]);
    await client.execute("UPDATE capability_records SET description = 'count the words'");
    await curator.suggest({ asker: owner, filter: {}, signal });
    expect(await curator.pending(DEFAULT_SCOPE)).toMatchObject([{ id, suggestedName: "fs:count_words" }]);
    expect(await curator.stats(DEFAULT_SCOPE)).toMatchObject({ pending: 1, accepted: 0, acceptanceRate: undefined });
  });

  test("a rename outside of curation settles the suggestion: accepted if the name is equal, edited otherwise", async () => {
    await using client = await openTestDatabase(engine);
    const { curator, registry } = openScene(client);
    const same = await seedUnnamed(client, { description: "read the license" });
    const other = await seedUnnamed(client, { description: "count the words" });
    await curator.suggest({ asker: owner, filter: {}, signal });
    await registry.rename(owner, { from: same, to: "fs:read_license", via: "user" });
    await registry.rename(owner, { from: other, to: "fs:word_count", via: "user" });
    const stats = { pending: 0, accepted: 1, edited: 1, rejected: 0, auto: 0, unnamed: 0, acceptanceRate: 0.5 };
    expect(await curator.stats(DEFAULT_SCOPE)).toEqual(stats);
  });

  test("a later rename turns an automatically accepted suggestion into an edited one", async () => {
    await using client = await openTestDatabase(engine);
    const { curator, registry } = openScene(client);
    await seedUnnamed(client, { description: "read the license" });
    const { applied } = await curator.auto({ asker: owner, filter: {}, signal, minConfidence: 0.5 });
    expect(applied).toMatchObject([{ newName: "fs:read_license" }]);
    expect(await curator.stats(DEFAULT_SCOPE)).toMatchObject({ accepted: 1, auto: 1, acceptanceRate: 1 });
    await registry.rename(owner, { from: "fs:read_license", to: "fs:show_license", via: "user" });
    expect(await curator.stats(DEFAULT_SCOPE)).toMatchObject({ accepted: 0, edited: 1, acceptanceRate: 0 });
  });

  test("private capabilities of other principals are neither named nor read", async () => {
    await using client = await openTestDatabase(engine);
    const { curator } = openScene(client);
    const stranger: Asker = { scope: DEFAULT_SCOPE, principal: newId() };
    const shared = await seedUnnamed(client, { visibility: "project", intentBy: [OWNER, "read the salaries"] });
    await seedUnnamed(client, { description: "read the license" });
    const { suggestions } = await curator.suggest({ asker: stranger, filter: {}, signal, dryRun: true });
    expect(suggestions.map(({ id }) => id)).toEqual([shared]);
    expect(JSON.stringify(suggestions)).not.toContain("salaries");
    expect(await curator.pending(DEFAULT_SCOPE)).toEqual([]);
    const all = await curator.suggest({ asker: owner, filter: {}, signal });
    expect(all.suggestions.map(({ suggestedName }) => suggestedName)).toContain("fs:read_salaries");
  });

  test("curateInBackground suggests, or applies above the threshold, and publishes the counts", async () => {
    await using client = await openTestDatabase(engine);
    const { curator, published } = openScene(client);
    await seedUnnamed(client, { description: "read the license" });
    await curator.curateInBackground(DEFAULT_SCOPE, { apply: false });
    expect(published.at(-1)).toEqual({ kind: "names_suggested", ...DEFAULT_SCOPE, applied: 0, waiting: 1 });
    await seedUnnamed(client, { description: "read the license" });
    await curator.curateInBackground(DEFAULT_SCOPE, { apply: false });
    expect((await curator.pending(DEFAULT_SCOPE)).map(({ suggestedName }) => suggestedName).toSorted()).toEqual([
      "fs:read_license",
      "fs:read_license_v2",
    ]);
    await seedUnnamed(client, { description: "count the words" });
    await curator.curateInBackground(DEFAULT_SCOPE, { apply: true });
    expect(published.findLast(({ kind }) => kind === "names_suggested")).toMatchObject({ applied: 1, waiting: 0 });
  });

  test("watchUnnamed fires once enough capabilities have neither name nor suggestion, and not again for the same ones", async () => {
    await using client = await openTestDatabase(engine);
    const { curator } = openScene(client);
    const events = createEventBus();
    let calls = 0;
    const onEnough = async (): Promise<void> => {
      calls += 1;
      await curator.curateInBackground(DEFAULT_SCOPE, { apply: false });
    };
    using _watching = watchUnnamed({ db: client.db, scope: DEFAULT_SCOPE, events, afterUnnamed: 2, onEnough, onError });
    const change = (): void => events.publish({ kind: "scope_changed", ...DEFAULT_SCOPE });
    await seedUnnamed(client, { description: "read the license" });
    change();
    await seedUnnamed(client, { description: "count the words" });
    change();
    await expect.poll(() => curator.pending(DEFAULT_SCOPE)).toHaveLength(2);
    change();
    await expect.poll(() => calls).toBe(1);
  });
});
