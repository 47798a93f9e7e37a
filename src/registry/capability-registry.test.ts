import { indexTools } from "../catalogue/catalogue.ts";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import type { DatabaseClient } from "../db/client.ts";
import { inThread } from "../../test/support/analyser.ts";
import { AnalysedPrograms } from "../execution/analysed-programs.ts";
import { CapabilityRegistry } from "./capability-registry.ts";
import { type Asker, OWNER } from "./scope.ts";

const noTools = { ...indexTools([]), version: 1, onChange: () => () => undefined };
const analysed = new AnalysedPrograms(noTools, inThread);

function openRegistry({ db }: DatabaseClient, policy: Partial<{ strict: boolean; reserveDays: number }> = {}) {
  return new CapabilityRegistry({
    db,
    policy: () => ({ strict: false, reserveDays: 30, ...policy }),
    prepare: (code) => analysed.prepare(code),
  });
}

let next = 0;
/** Creates a separate scope for each test. */
function newAsker(org = `org${++next}`, project = "web"): Asker {
  return { scope: { org, project }, principal: OWNER };
}

const somebody = (asker: Asker): Asker => ({ ...asker, principal: "019a0000-0000-7000-8000-000000000001" });
const elsewhere = (asker: Asker, project: string): Asker => ({ ...asker, scope: { ...asker.scope, project } });

describe.each(engines)("CapabilityRegistry on %s", (engine) => {
  let client: DatabaseClient;
  let registry: CapabilityRegistry;
  beforeAll(async () => {
    client = await openTestDatabase(engine);
    registry = openRegistry(client);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  const save = (asker: Asker, name: string, code: string, more: object = {}) =>
    registry.save(asker, { name, code, ...more });
  const nameOf = async (asker: Asker, reference: string): Promise<string> =>
    (await registry.resolve(asker, reference)).capability.displayName;

  test("a rename leaves aliases that point at the record, however often, and writes its history", async () => {
    const asker = newAsker();
    const { record } = await save(asker, "fs:a", "return 1");
    const { oldFqdn } = await registry.rename(asker, { from: "fs:a", to: "fs:b", via: "user" });
    await registry.rename(asker, { from: "fs:b", to: "fs:c", via: "user" });
    for (const old of ["fs:a", "fs:b", oldFqdn, "cap:fs:a@latest", record.id])
      expect(await nameOf(asker, old)).toBe("fs:c");
    expect((await registry.resolve(asker, "fs:a")).warning).toBe('Using deprecated alias "fs:a" → "fs:c"');
    const { rows } = await sql<{ old_name: string; new_name: string }>`
      SELECT old_name, new_name FROM capability_rename_history WHERE org = ${asker.scope.org} ORDER BY renamed_at`.execute(
      client.db,
    );
    expect(rows).toEqual([
      { old_name: "fs:a", new_name: "fs:b" },
      { old_name: "fs:b", new_name: "fs:c" },
    ]);
    await expect(save(asker, "fs:a", "return 2")).rejects.toThrow("Capability name 'fs:a' already exists");
    await registry.rename(asker, { from: "fs:c", to: "fs:a", via: "user" });
    expect((await registry.resolve(asker, "fs:a")).warning).toBeUndefined();
    const { aliases } = await registry.whois(asker, "fs:a");
    expect(aliases.filter((alias) => alias.includes(":"))).toEqual(["fs:b", "fs:c"]);
  });

  test("names collide, take versions or suffixes, and stay reserved after a deletion", async () => {
    const asker = newAsker();
    await save(asker, "fs:read", "return 1");
    await expect(save(asker, "fs:read", "return 2")).rejects.toMatchObject({ code: "capability_name_taken" });
    const other = await save(asker, "fs:read", "return 2", { onConflict: "suffix" });
    expect(other.record.displayName).toBe("fs:read_2");
    const version = await save(asker, "fs:read", "return 3", {
      onConflict: "version",
      versionTag: "1.1.0",
      changeSummary: "three",
    });
    expect(version.record).toMatchObject({ displayName: "fs:read", version: 2, versionTag: "v1.1.0" });
    await expect(
      save(asker, "fs:read", "return 4", { onConflict: "version", versionTag: "v1.1.0" }),
    ).rejects.toMatchObject({ code: "version_tag_taken" });
    expect((await registry.history(asker, "fs:read")).map((each) => each.changeSummary)).toEqual(["three", undefined]);
    await registry.remove(asker, "fs:read");
    await expect(registry.resolve(asker, "fs:read")).rejects.toThrow("Capability not found: fs:read");
    await expect(save(asker, "fs:read", "return 5")).rejects.toThrow(/reserved until \d{4}/);
    const restored = await registry.restore(asker, "fs:read");
    expect(restored.record).toMatchObject({ version: 2, state: "draft" });
    await registry.remove(asker, "fs:read");
    const impatient = openRegistry(client, { reserveDays: 0 });
    await impatient.save(asker, { name: "fs:read", code: "return 6" });
    await expect(impatient.restore(asker, restored.record.id)).rejects.toMatchObject({ code: "capability_name_taken" });
  });

  test("each specifier runs its version, and versions cannot be changed", async () => {
    const asker = newAsker();
    await save(asker, "fs:read", "return 1", { versionTag: "v1.0.0" });
    await registry.update(asker, { name: "fs:read", code: "return 2", versionTag: "v1.2.0", changeSummary: "two" });
    await registry.update(asker, { name: "fs:read", code: "return 3" });
    const code = async (reference: string): Promise<string> => {
      const { source } = (await registry.resolve(asker, reference)).capability;
      return source.type === "code" ? source.code : "";
    };
    const today = new Date().toISOString().slice(0, 10);
    expect(await code("fs:read@v1")).toBe("return 2");
    expect(await code("cap:fs:read@v1.0.0")).toBe("return 1");
    expect(await code("fs:read@v3")).toBe("return 3");
    expect(await code(`fs:read@${today}`)).toBe("return 3");
    expect(await code("fs:read@latest")).toBe("return 3");
    await expect(code("fs:read@v5")).rejects.toThrow("Version v5 not found for fs:read");
    const again = await registry.update(asker, { name: "fs:read", code: "return 3" });
    expect(again.warnings).toHaveLength(1);
    await expect(
      sql`UPDATE capability_versions SET code_snippet = 'x' WHERE org = ${asker.scope.org}`.execute(client.db),
    ).rejects.toThrow("append-only");
  });

  test("shared records resolve in order of visibility, and private ones are hidden from others", async () => {
    const asker = newAsker();
    const shared = { ...elsewhere(asker, "shared"), admin: true };
    const other = { ...elsewhere(asker, "other"), admin: true };
    await save(shared, "fs:read", "return 'public'", { visibility: "public" });
    await save(other, "fs:read", "return 'org'", { visibility: "org" });
    expect((await registry.resolve(asker, "fs:read")).capability.scope.project).toBe("other");
    await save(asker, "fs:read", "return 'own'");
    expect((await registry.resolve(asker, "fs:read")).capability.scope.project).toBe("web");
    const crossing = `cap:${asker.scope.org}.shared:fs:read`;
    expect((await registry.resolve(asker, crossing)).capability.scope.project).toBe("shared");
    // another principal of the project sees the shared record instead of the private one
    expect((await registry.resolve(somebody(asker), "fs:read")).capability.scope.project).toBe("other");
    await expect(registry.rename(asker, { from: crossing, to: "fs:mine", via: "user" })).rejects.toMatchObject({
      code: "capability_foreign",
    });
    const stranger = newAsker();
    const { fqdn } = await registry.whois(shared, "fs:read");
    await expect(registry.resolve(stranger, crossing)).rejects.toMatchObject({ code: "capability_not_found" });
    expect((await registry.resolve(stranger, fqdn)).capability.fqdn).toBe(fqdn);
    const hidden = await registry.whois(asker, "fs:read");
    await expect(registry.whois(stranger, hidden.fqdn)).rejects.toThrow("Capability not found");
  });

  test("the same program of somebody else is another one, unless they share it", async () => {
    const asker = newAsker();
    const one = await save(asker, "fs:mine", "return 'same'");
    const two = await save(somebody(asker), "fs:yours", "return 'same'");
    expect(two.record.id).not.toBe(one.record.id);
    const again = await save(somebody(asker), "fs:yours", "return 'same'");
    expect(again.record.id).toBe(two.record.id);
    await expect(registry.resolve(somebody(asker), "fs:mine")).rejects.toMatchObject({ code: "capability_not_found" });
  });

  test("a fork remembers where it came from, a merge is a pipeline", async () => {
    const asker = newAsker();
    const shared = { ...elsewhere(asker, "shared"), admin: true };
    const { record: source } = await save(shared, "fs:read", "return args.path", { visibility: "org" });
    const { record: copy } = await registry.fork(asker, { source: "fs:read", name: "fs:read_custom" });
    expect(copy).toMatchObject({ forkedFrom: source.fqdn, parentId: source.id, version: 1, visibility: "private" });
    expect(copy.fqdn).toMatch(new RegExp(`^${asker.scope.org}\\.web\\.fs\\.read_custom\\.[0-9a-f]{4}$`));
    await save(asker, "transform:size", "return args.text.length");
    const { record: merged } = await registry.merge(asker, {
      sources: ["cap:fs:read_custom", "transform:size"],
      name: "fs:read_size",
    });
    const { source: pipeline } = merged;
    expect(pipeline?.type === "code" ? pipeline.code : "").toContain('capabilities["transform:size"]');
    const { rows } = await sql`
      SELECT 1 FROM capability_dependency WHERE org = ${asker.scope.org} AND from_record_id = ${merged.id}`.execute(
      client.db,
    );
    expect(rows).toHaveLength(2);
  });

  test("archive and restore lose nothing", async () => {
    const asker = newAsker();
    await save(asker, "fs:read", "return 1", { tags: ["io"] });
    await registry.rename(asker, { from: "fs:read", to: "fs:load", via: "user" });
    const before = await registry.whois(asker, "fs:load");
    await registry.archive(asker, "fs:load");
    await expect(registry.resolve(asker, "fs:read")).rejects.toMatchObject({ code: "capability_archived" });
    await registry.restore(asker, "fs:load");
    expect({ ...(await registry.whois(asker, "fs:load")), updatedAt: 0 }).toEqual({ ...before, updatedAt: 0 });
    expect(await nameOf(asker, "fs:read")).toBe("fs:load");
  });

  test("queries filter, sort and page", async () => {
    const asker = newAsker();
    const states = ["draft"] as const;
    for (const [index, name] of ["fs:c", "api:b", "fs:a", "d"].entries()) {
      const tags = index < 2 ? ["json", "read"] : ["json"];
      await save(asker, name, `return ${index}`, { tags, versionTag: `v1.${index}.0`, description: `It says ${name}` });
    }
    await registry.feedback(asker, { name: "fs:c", success: true, latencyMs: 45 });
    const names = async (query: object): Promise<string[]> =>
      (await registry.list(asker, { states, limit: 10, ...query })).records.map(({ displayName }) => displayName);
    expect(await names({})).toEqual(["api:b", "d", "fs:a", "fs:c"]);
    expect(await names({ sortBy: "created" })).toEqual(["d", "fs:a", "api:b", "fs:c"]);
    expect((await names({ sortBy: "usage" }))[0]).toBe("fs:c");
    expect(await names({ tags: ["json", "read"] })).toEqual(["api:b", "fs:c"]);
    expect(await names({ namespace: "fs" })).toEqual(["fs:a", "fs:c"]);
    expect(await names({ pattern: "*:?" })).toEqual(["api:b", "fs:a", "fs:c"]);
    expect(await names({ versionTag: "v1.1*" })).toEqual(["api:b"]);
    expect(await names({ text: "says api" })).toEqual(["api:b"]);
    expect(await names({ createdBy: "loc*", visibility: "private", limit: 2, offset: 1 })).toEqual(["d", "fs:a"]);
    for (const sortBy of ["name", "usage", "created"] as const) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await registry.list(asker, {
          states,
          sortBy,
          limit: 3,
          ...(cursor === undefined ? {} : { cursor }),
        });
        seen.push(...page.records.map(({ displayName }) => displayName));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(await names({ sortBy }));
    }
    const { usageCount, successCount, totalLatencyMs } = await registry.lookup(asker, "fs:c");
    expect({ usageCount, successCount, totalLatencyMs }).toEqual({
      usageCount: 1,
      successCount: 1,
      totalLatencyMs: 45,
    });
  });

  test("concurrent requests for one name give it once", async () => {
    const asker = newAsker();
    const rival = openRegistry(client);
    const tries = Array.from({ length: 6 }, (_, index) =>
      (index % 2 === 0 ? registry : rival).save(asker, { name: "fs:one", code: `return ${index}` }),
    );
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const suffixed = await Promise.all(
      [10, 11, 12].map((index) =>
        (index % 2 === 0 ? registry : rival).save(asker, {
          name: "fs:one",
          code: `return ${index}`,
          onConflict: "suffix",
        }),
      ),
    );
    expect(suffixed.map(({ record }) => record.displayName).toSorted()).toEqual(["fs:one_2", "fs:one_3", "fs:one_4"]);
  });

  test("pages over all projects and organisations are one list, in every order, and count what is there now", async () => {
    const asker = newAsker();
    const places = [
      { by: asker, visibility: "private" },
      { by: elsewhere(asker, "shared"), visibility: "org" },
      { by: newAsker(), visibility: "public" },
    ] as const;
    // One namespace of its own keeps records of other tests out.
    const namespace = `many${engine}`;
    for (const [at, { by, visibility }] of places.entries()) {
      for (const letter of ["a", "b"]) {
        const name = `${namespace}:${letter}${at}`;
        await save({ ...by, admin: true }, name, `return "${name}"`, { visibility });
        for (let use = 0; use < (at * 2 + 1) % 4; use++) await registry.feedback(by, { name, success: true });
      }
    }
    await client.db
      .updateTable("capability_records")
      .set({ state: "active" })
      .where("namespace", "=", namespace)
      .execute();
    const orders = { name: "a0 a1 a2 b0 b1 b2", created: "b2 a2 b1 a1 b0 a0", usage: "b1 a1 b2 a2 b0 a0" };
    for (const sortBy of ["name", "created", "usage"] as const) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const from = cursor === undefined ? {} : { cursor };
        const page = await registry.query(asker, { namespace, sortBy, limit: 2, ...from });
        seen.push(...page.records.map(({ action }) => action));
        expect(page.total).toBe(cursor === undefined ? 6 : undefined);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seen.join(" ")).toBe(orders[sortBy]);
    }
    expect(
      (await registry.query(asker, { namespace, limit: 2, offset: 4 })).records.map(({ action }) => action),
    ).toEqual(["b1", "b2"]);
    await registry.archive(asker, `${namespace}:a0`);
    expect((await registry.query(asker, { namespace, limit: 1 })).total).toBe(5);
    expect((await registry.list(asker, { namespace, limit: 1 })).total).toBe(1);
  });
});
