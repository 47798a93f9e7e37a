import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFolder } from "../support/databases.ts";
import { EMBEDDING_DIMENSIONS, startEmbeddingServer } from "../support/embedding-server.ts";
import { execute } from "../support/execute.ts";
import { call, type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";
import type { DiscoverAnswer } from "../../src/contract/discover.ts";

type Result = DiscoverAnswer["results"][number];
type Why = NonNullable<Result["why"]>;

/** The answer with the reasons, which every detail but `names` has. */
type Found = Omit<DiscoverAnswer, "results"> & { readonly results: readonly (Result & { readonly why: Why })[] };

async function discover(client: Client, request: Record<string, unknown>): Promise<Found> {
  const { content } = await client.callTool({ name: "pml_discover", arguments: { detail: "full", ...request } });
  const [first] = content;
  return JSON.parse(first?.type === "text" ? first.text : "{}") as Found;
}

async function names(client: Client, request: Record<string, unknown>): Promise<string[]> {
  return (await discover(client, request)).results.map(({ name }) => name);
}

const READ = `const { content } = await mcp.filesystem.read_text_file({ path: args.path });`;
const COUNT_LINES = `${READ}\nreturn content.split("\\n").length;`;
const PARSE_PLAIN = `${READ}\nif (content.includes('"')) throw new Error("quotes");\nreturn content.split(",");`;
const PARSE_QUOTED = `${READ}\nreturn content.replaceAll('"', "").split(",");`;

const stack = new AsyncDisposableStack();
let home: GatewayHome;
let client: Client;
let folder: string;

beforeAll(async () => {
  folder = stack.use(await makeFolder()).path;
  mkdirSync(join(folder, "files"));
  folder = join(folder, "files");
  writeFileSync(join(folder, "plain.csv"), "a,b\n");
  writeFileSync(join(folder, "quoted.csv"), `"a","b"\n`);
  const config = { permissions: { allow: ["filesystem:*"] }, discovery: { tier: "lite" } };
  home = stack.use(await startGateway({ filesystem: servers.filesystem(folder) }, { config }));
  await home.ready("filesystem");
  ({ client } = stack.use(await connectClient(home.path)));
  const run = (code: string, name: string, more: Record<string, unknown>): Promise<unknown> =>
    execute(client, { code, name, args: { path: join(folder, "plain.csv") }, ...more });
  await run(COUNT_LINES, "fs:count_lines", { intent: "count the lines of a file", tags: ["statistics"] });
  const parse = { description: "Parse comma separated values of a file" };
  await run(PARSE_PLAIN, "csv:parse_plain", { intent: "parse comma separated values", ...parse });
  await run(PARSE_QUOTED, "csv:parse_quoted", { intent: "parse comma separated values", ...parse });
}, 60_000);

afterAll(() => stack.disposeAsync());

test("[10.6-AC1] [10.6-AC2] [10.6-AC6] [10.6-AC9] [A01] an intent finds tools and capabilities in one list, each with what is needed to use it", async () => {
  const { results, meta } = await discover(client, { intent: "read a file and count its lines" });
  const types = new Set(results.map(({ type }) => type));
  expect(types).toEqual(new Set(["tool", "capability"]));
  expect(results.map(({ score }) => score)).toEqual(results.map(({ score }) => score).toSorted((a, b) => b - a));
  expect(meta.ranking).toBe("lite");
  expect(results[0]).toMatchObject({
    type: "capability",
    name: "fs:count_lines",
    callName: "cap__fs__count_lines",
    inputSchema: { properties: { path: {} } },
    source: { type: "code", preview: expect.stringContaining("read_text_file") },
    stats: { usageCount: 1, successRate: 1, toolsUsed: ["filesystem:read_text_file"] },
    tags: ["statistics"],
    why: { words: { text: expect.stringContaining("count") }, record: { text: expect.stringContaining("1 of 1") } },
  });
  const tool = results.find(({ type }) => type === "tool");
  expect(tool).toMatchObject({ callName: expect.stringMatching(/^filesystem__/), inputSchema: { type: "object" } });
  const called = await execute(client, { capability: results[0]!.callName, args: { path: join(folder, "plain.csv") } });
  expect(called).toMatchObject({ status: "success", result: 2 });
});

test("[10.6-AC4] [10.6-AC10] [10.6-AC11] [A02] filters keep to tools, capabilities, a server or a namespace", async () => {
  const intent = "read a file";
  const kinds = async (filter: object): Promise<Set<string>> =>
    new Set((await discover(client, { intent, filter })).results.map(({ type }) => type));
  expect(await kinds({ type: "tool" })).toEqual(new Set(["tool"]));
  expect(await kinds({ type: "capability" })).toEqual(new Set(["capability"]));
  expect(await kinds({ type: "skill" })).toEqual(new Set());
  expect(await kinds({ server: "filesystem" })).toEqual(new Set(["tool"]));
  const ofCsv = await names(client, { intent, filter: { namespace: "csv", minScore: 0 } });
  expect(ofCsv.toSorted()).toEqual(["csv:parse_plain", "csv:parse_quoted"]);
});

test("[10.6-AC7] [E10-FR10] the searches of old still answer, each for what it looked for, and say what to use", async () => {
  const listed = (await client.listTools()).tools.map(({ name }) => name);
  for (const [old, type] of [
    ["pml_search_tools", "tool"],
    ["pml_search_capabilities", "capability"],
    ["pml_find_capabilities", "capability"],
  ] as const) {
    const { text } = await call(client, old, { query: "count the lines of a file" });
    const answer = JSON.parse(text) as { results: { type: string }[]; deprecated: string };
    expect(new Set(answer.results.map((result) => result.type))).toEqual(new Set([type]));
    expect(answer.deprecated).toBe(`${old} is deprecated; use pml_discover`);
    expect(listed).not.toContain(old);
  }
});

test("[10.6-AC5] pages, details and a budget of tokens", async () => {
  const intent = "read, write and list files";
  const all = await names(client, { intent, limit: 8 });
  const second = await discover(client, { intent, limit: 4, offset: 4, detail: "names" });
  expect(second.results.map(({ name }) => name)).toEqual(all.slice(4));
  expect(Object.keys(second.results[0] ?? {})).toEqual(["type", "id", "name", "callName", "score"]);
  const brief = await discover(client, { intent, detail: "brief" });
  expect(brief.results[0]).not.toHaveProperty("inputSchema");
  const capability = { intent: "count lines", filter: { type: "capability" }, limit: 1 };
  const [typed] = (await discover(client, { ...capability, format: "typescript", include_code: true })).results;
  expect(typed?.signature).toMatch(/^\(args: \{ path: string \}\) => Promise<number>$/);
  expect(typed?.source?.code).toBe(COUNT_LINES);
  const short = await discover(client, { intent, max_tokens: 300 });
  expect(short.results.length).toBeLessThan(brief.results.length);
  expect(short.meta.next_offset).toBe(short.results.length);
});

test("[CR-D1] [CR-D2] [CR-D3] tags, mistyped words and other words for the same thing all lead there", async () => {
  expect((await names(client, { intent: "statistics" }))[0]).toBe("fs:count_lines");
  expect((await names(client, { intent: "cuont lnies" }))[0]).toBe("fs:count_lines");
  expect((await names(client, { intent: "wirte_file" }))[0]).toBe("write_file");
  const { results } = await discover(client, { intent: "make a new folder" });
  expect(results[0]).toMatchObject({ name: "create_directory", why: { meaning: { text: /similarity/ } } });
  expect(results[0]?.why.words?.text ?? "").not.toMatch(/folder/);
});

const pointsOf = ({ results }: Found, name: string, kind: keyof Why): number =>
  results.find((result) => result.name === name)?.why[kind]?.points ?? Number.NaN;

const use = (capability: string, tag: string): Promise<unknown> =>
  execute(client, {
    intent: "read the export of the bank",
    options: { context_tags: [tag] },
    capability,
    args: { path: join(folder, `${tag}.csv`) },
  });

/** How much one is worth more than the other, whatever the weight of the evidence. */
const ratio = (found: Found, kind: keyof Why): number =>
  pointsOf(found, "csv:parse_plain", kind) / pointsOf(found, "csv:parse_quoted", kind);

describe("what uses teach", () => {
  const intent = "parse comma separated values";
  const filter = { namespace: "csv" };
  const inContext = (...tags: string[]): Promise<Found> => discover(client, { intent, filter, context_tags: tags });
  beforeAll(async () => {
    for (let round = 0; round < 3; round += 1) {
      for (const capability of ["csv:parse_plain", "csv:parse_quoted"]) await use(capability, "quoted");
      await use("csv:parse_plain", "plain");
    }
  });

  test("[CR-R1] a rate in the context adds to the rate in all, and one below 0.3 costs 0.2 more", async () => {
    // Believed after one success and one failure more: 0 of 3 is 1/5, 3 of 3 is 4/5; what was never tried is 1/2.
    const quoted = await inContext("quoted");
    expect(ratio(quoted, "context")).toBeCloseTo((1 / 5 - 1 / 2 - 0.2) / (4 / 5 - 1 / 2), 1);
    const both = await inContext("quoted", "plain");
    expect(ratio(both, "context")).toBeCloseTo(((1 / 5 - 1 / 2 + 4 / 5 - 1 / 2) / 2 - 0.2) / ((4 / 5 - 1 / 2) / 2), 1);
    // 4 of 7 and 4 of 4, in all and whatever the context
    for (const found of [quoted, both])
      expect(ratio(found, "record")).toBeCloseTo((5 / 9 - 1 / 2) / (5 / 6 - 1 / 2), 1);
    expect(quoted.results[1]).toMatchObject({
      name: "csv:parse_plain",
      warnings: ['0 of 3 uses in the context "quoted" succeeded'],
      why: { context: { points: expect.any(Number), text: "quoted: 0 of 3 succeeded" } },
    });
  });

  test("[A04] of several that do the same, the tags of the task choose the one to use, also after a restart", async () => {
    const chosen = async (tag: string): Promise<string[]> => (await inContext(tag)).results.map(({ name }) => name);
    const quoted = await inContext("quoted");
    expect(quoted.results.map(({ name }) => name)).toEqual(["csv:parse_quoted", "csv:parse_plain"]);
    expect(await chosen("plain")).toEqual(["csv:parse_plain", "csv:parse_quoted"]);
    await runPml(["down"], { home: home.path });
    await runJson(["up"], { home: home.path });
    ({ client } = stack.use(await connectClient(home.path)));
    expect(await inContext("quoted")).toEqual(quoted);
    expect(await chosen("plain")).toEqual(["csv:parse_plain", "csv:parse_quoted"]);
  });

  test("what a capability was used for finds it, in words that nothing in it has, also after the restart", async () => {
    const { results } = await discover(client, { intent: "the export of my bank" });
    expect(results[0]).toMatchObject({ name: "csv:parse_quoted" });
    expect(results[0]?.why.words).toBeUndefined();
  });
});

test("pml discover explains its results, and pml index status says what there is", async () => {
  const { stdout } = await runPml(["discover", "count the lines", "--explain"], { home: home.path });
  expect(stdout).toMatch(/fs:count_lines \(capability\)\n\s+words\s+\+\d/);
  const found = await runJson<Found>(["discover", "count the lines", "--type", "tool"], { home: home.path });
  expect(new Set(found.results.map(({ type }) => type))).toEqual(new Set(["tool"]));
  const status = await runJson<{ tier: string; documents: object }>(["index", "status"], { home: home.path });
  expect(status).toMatchObject({ tier: "lite", documents: { capability: 3, tool: expect.any(Number) } });
});

test("[10.6-AC2] what a run used together comes up together, and says so", async () => {
  const code = `
    await mcp.filesystem.get_file_info({ path: args.path });
    return await mcp.filesystem.list_directory_with_sizes({ path: args.folder });`;
  const input = { code, args: { path: join(folder, "plain.csv"), folder }, intent: "compare sizes" };
  expect(await execute(client, input)).toMatchObject({ status: "success" });
  const { results } = await discover(client, { intent: "get_file_info", filter: { type: "tool" }, limit: 30 });
  expect(results[0]).toMatchObject({ name: "get_file_info" });
  const companion = results.find(({ name }) => name === "list_directory_with_sizes");
  expect(companion?.why).toMatchObject({
    graph: { text: expect.stringContaining("used together with filesystem:get_file_info") },
  });
});

test("[CR-D4] with a model elsewhere results are ranked by it once it has seen everything, and without it when it is gone", async () => {
  await using server = await startEmbeddingServer();
  const endpoint = { url: server.url, model: "words", dimensions: EMBEDDING_DIMENSIONS, apiKey: { env: "EMBED_KEY" } };
  await using elsewhere = await startGateway(
    { filesystem: servers.filesystem(folder) },
    { config: { discovery: { endpoint } }, env: { EMBED_KEY: "k" } },
  );
  await elsewhere.ready("filesystem");
  await using connected = await connectClient(elsewhere.path);
  const search = (): Promise<Found> => discover(connected.client, { intent: "create a directory" });
  expect((await search()).results[0]?.name).toBe("create_directory");
  await until("everything is embedded", async () => (await search()).meta.ranking === "full");
  expect((await search()).results[0]).toMatchObject({ name: "create_directory", why: { meaning: { text: /model/ } } });
  expect([...server.keys]).toEqual(["Bearer k"]);
  expect(new Set(server.texts).size).toBe(server.texts.length);
  server.fail();
  const without = await discover(connected.client, { intent: "make a folder" });
  expect(without).toMatchObject({ meta: { ranking: "lite" } });
  expect(without.results[0]?.name).toBe("create_directory");
});
