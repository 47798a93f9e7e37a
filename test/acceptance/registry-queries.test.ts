import { expect, test } from "vitest";
import { share } from "../support/decide.ts";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { PROGRAMS, shareLibrary } from "../support/library-scene.ts";
import { callJson } from "../support/names-scene.ts";

const RECORD_MEMBERS = `fqdn display_name org project namespace action hash created_by created_at version version_tag
  updated_by updated_at ttl cache_policy parent_id forked_from verified signature usage_count
  success_count total_latency_ms tags visibility code_snippet parameters_schema description aliases
  success_rate avg_latency_ms`.split(/\s+/);
const DATE = expect.stringMatching(/^\d{4}-\d\d-\d\d/) as string;

const library = shareLibrary();

const list = async (input: Record<string, unknown>): Promise<Record<string, unknown>[]> =>
  (await library.call<{ capabilities: Record<string, unknown>[] }>("pml_list_capabilities", input)).capabilities;

interface Page {
  readonly records: { readonly display_name: string }[];
  readonly next_cursor: string | null;
}
const names = async (query: Record<string, unknown>): Promise<string[]> =>
  (await library.call<Page>("dns:query", { record_type: "capability", ...query })).records.map(
    (record) => record.display_name,
  );

test("[FR041] [13.11-AC1] lookup tells what a name stands for and how it does", async () => {
  await execute(library.client, { code: "return 'looked up'", name: "util:looked_up", description: "Is looked up" });
  expect(await library.call("dns:lookup", { name: "util:looked_up" })).toMatchObject({
    fqdn: expect.stringMatching(/^local\.default\.util\.looked_up\.[0-9a-f]{4}$/) as string,
    display_name: "util:looked_up",
    description: "Is looked up",
    usage_count: 1,
    success_rate: 1,
  });
  await library.call("learn:feedback", { name: "util:looked_up", success: false });
  expect(await library.call("dns:lookup", { name: "util:looked_up" })).toMatchObject({
    usage_count: 2,
    success_rate: 0.5,
  });
});

test("[FR042] [13.11-AC3] [13.11-AC4] [TS-Q1] query compares creator, all tags, visibility, version tag and words, together", async () => {
  await library.call("dns:tag", { name: "fs:read_json", tags: ["json", "read"] });
  expect(await names({ tags: ["json", "read"] })).toEqual(["fs:read_json"]);
  expect(await names({ tags: ["json"], namespace: "fs" })).toEqual(["fs:read_json", "fs:write_json"]);
  expect(await names({ created_by: "test-*", namespace: "api" })).toEqual(["api:drop_user", "api:fetch_user"]);
  expect(await names({ created_by: "nobody", namespace: "api" })).toEqual([]);
  expect(await names({ visibility: "public", record_type: "capability" })).toEqual([]);
  await library.call("learn:save", {
    name: "util:shared",
    code: "return 'shared'",
    version_tag: "v1.4.0",
  });
  await share(library.home.path, "util:shared", "public");
  expect((await execute(library.client, { capability: "util:shared" })).status).toBe("success");
  expect(await names({ visibility: "public", record_type: "capability" })).toEqual(["util:shared"]);
  expect(await names({ visibility: "private", namespace: "util" })).not.toContain("util:shared");
  expect(await names({ version_tag: "v1.4.*" })).toEqual(["util:shared"]);
  expect(await names({ version_tag: "v1.5.*" })).toEqual([]);
  expect(await names({ text: "validate schema" })).toEqual(["transform:validate_schema"]);
});

test("query answers in pages, each from where the last one ended", async () => {
  const newest = { record_type: "capability", sort_by: "created" };
  const first = await library.call<Page>("dns:query", { ...newest, limit: 2 });
  const second = await library.call<Page>("dns:query", { ...newest, limit: 2, cursor: first.next_cursor });
  expect([...first.records, ...second.records].map((record) => record.display_name)).toEqual(
    (await names(newest)).slice(0, 4),
  );
});

test("[FR044] [13.11-AC5] [13.1-AC1] [TS-R1] [TS-R5] [TS-R6] whois has the whole record", async () => {
  const { fqdn } = await library.call<{ fqdn: string }>("dns:lookup", { name: "fs:write_json" });
  const record = await library.call<Record<string, number>>("dns:whois", { fqdn });
  expect(Object.keys(record)).toEqual(expect.arrayContaining(RECORD_MEMBERS));
  expect(record).toMatchObject({
    fqdn,
    display_name: "fs:write_json",
    description: "Does fs:write_json",
    org: "local",
    project: "default",
    namespace: "fs",
    action: "write_json",
    hash: fqdn.slice(-4),
    created_by: "test-client",
    version: 1,
    cache_policy: "none",
    visibility: "private",
    aliases: [],
    verified: false,
    signature: expect.stringMatching(/^sha256:/) as string,
    code_snippet: PROGRAMS["fs:write_json"],
    tools_used: ["counting:put"],
    tags: ["json"],
    usage_count: 1,
    success_count: 1,
    success_rate: 1,
  });
  expect(record["total_latency_ms"]).toBeGreaterThan(0);
  expect(record["avg_latency_ms"]).toBe(record["total_latency_ms"]);
});

test("[13.2-AC1] [13.2-AC2] [13.2-AC3] [13.2-AC4] an FQDN is made of scope, namespace, action and hash, and is taken apart again", async () => {
  const { capabilityFqdn: fqdn } = await execute(library.client, { code: "return 'apart'", name: "git:take_apart" });
  const [, hash = ""] = /^local\.default\.git\.take_apart\.([0-9a-f]{4})$/.exec(fqdn) ?? [];
  expect(hash).toHaveLength(4);
  for (const reference of [fqdn, "git:take_apart"])
    expect(await library.call("dns:whois", { fqdn: reference })).toMatchObject({
      fqdn,
      display_name: "git:take_apart",
      org: "local",
      project: "default",
      namespace: "git",
      action: "take_apart",
      hash,
    });
});

test("[TS-R3] a copy knows what it was copied from, and a renamed record its former names", async () => {
  const source = await library.call<{ id: string; fqdn: string }>("dns:lookup", { name: "transform:validate_schema" });
  await library.call("dns:fork", { source: "transform:validate_schema", name: "transform:copied" });
  await library.call("dns:rename", { name: "transform:copied", newName: "transform:copy" });
  expect(await library.call("dns:whois", { fqdn: "transform:copy" })).toMatchObject({
    parent_id: source.id,
    forked_from: source.fqdn,
    aliases: ["transform:copied", expect.stringMatching(/^local\.default\.transform\.copied\./)],
  });
});

type History = { versions: { version: number; change_summary: string | null; diff: Diff | null }[] };
interface Diff {
  readonly code: string;
}

test("[FR043] [13.11-AC6] [13.12-AC9] history has every version, newest first, each with what changed and how it differs from the one before", async () => {
  const name = "transform:five_versions";
  await execute(library.client, { name, code: "return { step: 1 }", change_summary: "first" });
  for (const step of [2, 3, 4])
    await library.call("dns:update", { name, code: `return { step: ${step} }`, change_summary: `step ${step}` });
  await library.call("dns:update", {
    name,
    code: "return { step: (await mcp.counting.read({ key: args.key })).count }",
    version_tag: "v5.0.0",
    change_summary: "asks the server",
  });
  const { versions } = await library.call<History>("dns:history", { name });
  expect(versions).toMatchObject([
    { version: 5, version_tag: "v5.0.0", change_summary: "asks the server", updated_by: "test-client" },
    { version: 4, version_tag: null, change_summary: "step 4", code_snippet: "return { step: 4 }" },
    { version: 3, change_summary: "step 3" },
    { version: 2, change_summary: "step 2" },
    { version: 1, change_summary: null, diff: null },
  ]);
  for (const { version, diff } of versions.filter((each) => each.version > 1 && each.version < 5)) {
    expect(diff?.code).toContain(`-return { step: ${version - 1} }`);
    expect(diff?.code).toContain(`+return { step: ${version} }`);
    expect(diff).toMatchObject({ tools: { added: [], removed: [] }, parameters: [], breaking: false });
  }
  expect(versions[0]?.diff).toMatchObject({
    tools: { added: ["counting:read"], removed: [] },
    parameters: [{ breaking: true }],
    breaking: true,
  });
});

test("[13.12-AC10] a version is never changed: its tag cannot be given again, and what was refused leaves no trace", async () => {
  const name = "transform:unchanging";
  await execute(library.client, { name, code: "return 1", version_tag: "v1.0.0" });
  await library.call("dns:update", { name, code: "return 2", version_tag: "v1.1.0" });
  const { versions } = await library.call<History>("dns:history", { name });
  const again = await callJson(library.client, "dns:update", { name, code: "return 3", version_tag: "v1.1.0" });
  expect(again).toMatchObject({ isError: true, value: { error: { code: "version_tag_taken" } } });
  await library.call("dns:rename", { name, newName: "transform:renamed_since" });
  await library.call("dns:tag", { name, tags: ["changed"] });
  expect((await library.call<History>("dns:history", { name })).versions).toEqual(versions);
});

test("[FR036] a record is stored with creator, versions, trust and visibility", async () => {
  const made = await execute(library.client, {
    name: "db:whole_record",
    code: "return 'whole'",
    visibility: "project",
    version_tag: "v2.1.0",
    tags: ["whole"],
    description: "Is whole",
  });
  const [records, versions, authors] = await Promise.all(
    ["capability_records", "capability_versions", "principals"].map((table) => exportedRows(library.home.path, table)),
  );
  const author = authors?.find((row) => row["name"] === "test-client")?.["id"];
  expect(author).toEqual(expect.any(String));
  expect(records?.find(({ id }) => id === made.capabilityId)).toMatchObject({
    fqdn: made.capabilityFqdn,
    display_name: "db:whole_record",
    record_type: "capability",
    created_by: author,
    created_at: DATE,
    updated_by: author,
    updated_at: DATE,
    version: 1,
    version_tag: "v2.1.0",
    verified: false,
    visibility: "project",
    state: "active",
    tags: ["whole"],
    description: "Is whole",
  });
  expect(versions?.filter((row) => row["record_id"] === made.capabilityId)).toMatchObject([
    { version: 1, version_tag: "v2.1.0", code_snippet: "return 'whole'", signature: expect.stringMatching(/^sha256:/) },
  ]);
});

const listed = async (input: Record<string, unknown>): Promise<string[]> =>
  (await list(input)).map((each) => String(each["name"]));

test("[FR014] [13.9-AC1] [TS-A2] pml_list_capabilities has all, with what is needed to call them", async () => {
  const [first] = await list({ pattern: "fs:read_json" });
  expect(first).toMatchObject({
    id: expect.any(String) as string,
    name: "fs:read_json",
    description: "Does fs:read_json",
    usage_count: expect.any(Number) as number,
    success_rate: 1,
    parameters: { type: "object", properties: { path: {} } },
  });
  expect(await listed({})).toEqual(expect.arrayContaining(Object.keys(PROGRAMS)));
});

test("[FR015] [13.9-AC2] [13.9-AC3] it filters by namespace, pattern and whether there is a name", async () => {
  const nobody = await execute(library.client, { code: "return 'nobody'" });
  const all = await listed({});
  expect(all).toContain(nobody.capabilityName);
  expect(await listed({ named_only: true })).toEqual(all.filter((name) => !name.startsWith("unnamed_")));
  expect(await listed({ namespace: "api" })).toEqual(["api:drop_user", "api:fetch_user"]);
  expect(await listed({ pattern: "fs:*_json", limit: 2 })).toEqual(["fs:read_json", "fs:write_json"]);
});

test("[FR016] [13.9-AC4] [13.9-AC5] [13.9-AC6] [13.9-AC7] it sorts by name, use and age, and pages", async () => {
  const newest = await execute(library.client, { code: "return 'the newest'" });
  for (let time = 0; time < 5; time++)
    await execute(library.client, { capability: "fs:read_json", args: { path: "often" } });
  const all = await listed({});
  expect(all).toEqual(all.toSorted((a, b) => (a < b ? -1 : 1)));
  expect(await listed({ limit: 2, offset: 1 })).toEqual(all.slice(1, 3));
  const byUse = await list({ sort_by: "usage" });
  expect(byUse[0]).toMatchObject({ name: "fs:read_json" });
  const used = byUse.map((each) => each["usage_count"] as number);
  expect(used).toEqual(used.toSorted((a, b) => b - a));
  const byAge = await listed({ sort_by: "created" });
  expect([byAge[0], byAge.at(-1)]).toEqual([newest.capabilityName, "fs:read_json"]);
});
