import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { curate } from "../support/curation.ts";
import { makeFolder } from "../support/databases.ts";
import { type Executed, execute } from "../support/execute.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

interface Stats {
  readonly pending: number;
  readonly accepted: number;
  readonly auto: number;
  readonly edited: number;
  readonly rejected: number;
  readonly unnamed: number;
  readonly acceptanceRate?: number;
}

const READ = "(await mcp.filesystem.read_text_file({ path: args.path })).content";

/** The tests build on each other, in the order of a user's steps. */
describe("curation through a real client", () => {
  let work: Awaited<ReturnType<typeof makeFolder>>;
  let home: GatewayHome;
  let connected: TestClient;
  let client: Client;
  let file: string;
  const learned = new Map<string, Executed>();

  const learn = async (key: string, intent: string, code: string): Promise<Executed> => {
    const executed = await execute(client, { intent, code, args: { path: file, text: "a b", rows: [3, 1] } });
    expect(executed.status, JSON.stringify(executed)).toBe("success");
    learned.set(key, executed);
    return executed;
  };
  const idOf = (key: string): string => learned.get(key)?.capabilityId ?? "";
  const suggestionFor = async (key: string, filter = {}): Promise<string | undefined> =>
    (await curate(client, { filter })).suggestions.find(({ id }) => id === idOf(key))?.suggestedName;
  const stats = (): Promise<Stats> => runJson<Stats>(["curate", "--stats"], { home: home.path });

  beforeAll(async () => {
    work = await makeFolder();
    const folder = join(work.path, "files");
    mkdirSync(folder);
    file = join(folder, "settings.json");
    writeFileSync(file, '{"port":1}');
    home = await startGateway(
      { filesystem: servers.filesystem(folder), memory: servers.memory(work.path) },
      {
        config: { permissions: { allow: ["filesystem:*", "memory:*"] }, curation: { afterUnnamed: 0, sampling: true } },
      },
    );
    await home.ready("filesystem", "memory");
    connected = await connectClient(home.path, { transport: "http", era: "auto" });
    ({ client } = connected);
  });

  afterAll(async () => {
    await connected[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
    await work[Symbol.asyncDispose]();
  });

  test("what an agent does not name works at once and has a name made of its hash [FR009] [TS-X1]", async () => {
    const json = await learn("json", "read and parse JSON config file", `return JSON.parse(${READ});`);
    expect(json.capabilityName).toMatch(/^unnamed_[0-9a-f]{8}$/);
    const again = await execute(client, { capability: json.capabilityName, args: { path: file } });
    expect(again.result).toEqual({ port: 1 });
  });

  test("suggest proposes a name for each, with confidence and reasons, and changes nothing [13.8-AC1] [FR011] [FR012] [TS-A1]", async () => {
    await learn("json2", "read a JSON settings file", `const text = ${READ};\nreturn JSON.parse(text).port + 1;`);
    await learn("words", "count the words of a text", `return args.text.split(" ").length;`);
    await learn(
      "graph",
      "search the knowledge graph for a person",
      `return await mcp.memory.search_nodes({ query: args.text });`,
    );
    await learn("vague", "do it", `return (await mcp.filesystem.get_file_info({ path: args.path })).content.length;`);
    const { suggestions } = await curate(client, { strategy: "suggest" });
    expect(suggestions).toHaveLength(5);
    for (const suggestion of suggestions) {
      expect(suggestion.currentName).toMatch(/^unnamed_/);
      expect(suggestion.suggestedName).toMatch(/^[a-z]+:[a-z0-9_]+$/);
      expect(suggestion.confidence).toBeGreaterThan(0);
      expect(suggestion.confidence).toBeLessThanOrEqual(1);
      expect(suggestion.reasoning).toMatch(/tools \d+ %, intent \d+ %, pattern \d+ %/);
    }
    expect(new Set(suggestions.map(({ suggestedName }) => suggestedName)).size).toBe(5);
    expect((await curate(client)).suggestions).toEqual(suggestions);
  });

  test("the tools say the namespace, the intent the action [13.10-AC1] [13.10-AC2]", async () => {
    expect(await suggestionFor("json")).toBe("fs:read_json");
    expect(await suggestionFor("words")).toMatch(/^(?:util|transform):count_words/);
    expect(await suggestionFor("graph")).toMatch(/^db:search_/);
    expect(await suggestionFor("vague")).toMatch(/^fs:get_file_info/);
  });

  test("of two that would be called the same, one gets a variant and less confidence [13.10-AC5] [TS-C4]", async () => {
    const { suggestions } = await curate(client);
    const [plain, variant] = ["json", "json2"].map((key) => suggestions.find(({ id }) => id === idOf(key)));
    expect(plain?.suggestedName).toBe("fs:read_json");
    expect(variant?.suggestedName).toMatch(/^fs:read_json_\w+$/);
    expect(variant?.confidence).toBeLessThan(plain?.confidence ?? 0);
    expect(variant?.reasoning).toContain("fs:read_json is taken");
  });

  test("filters by namespace and by use [13.8-AC5] [13.8-AC6]", async () => {
    const files = await curate(client, { filter: { namespace: "fs" } });
    expect(files.suggestions.map(({ id }) => id).toSorted()).toEqual(["json", "json2", "vague"].map(idOf).toSorted());
    const used = await curate(client, { filter: { min_usage: 2 } });
    expect(used.suggestions.map(({ id }) => id)).toEqual([idOf("json")]);
  });

  test("auto gives the names that are sure, and leaves the others to somebody [13.8-AC2] [DR4]", async () => {
    const { summary, applied, waiting, failed } = await curate(client, { strategy: "auto" });
    const unsure = waiting.map(({ confidence }) => confidence);
    expect(applied.map(({ id }) => id)).toContain(idOf("json"));
    expect(applied.map(({ id }) => id)).not.toContain(idOf("vague"));
    expect(waiting.map(({ id }) => id)).toContain(idOf("vague"));
    expect(Math.max(...unsure)).toBeLessThanOrEqual(0.8);
    expect(summary).toBe(`${applied.length} named, ${waiting.length} left to decide, 0 failed`);
    expect(failed).toEqual([]);
    const called = await execute(client, { capability: "fs:read_json", args: { path: file } });
    expect(called.result).toEqual({ port: 1 });
  });

  test("only what has no name is looked at, unless asked otherwise, and a given name is never replaced by itself [13.8-AC4]", async () => {
    const unnamed = await curate(client, { filter: { unnamed_only: true } });
    expect(unnamed.suggestions.map(({ id }) => id)).not.toContain(idOf("json"));
    await curate(client, { strategy: "apply", renames: [{ id: idOf("json2"), name: "fs:load_port" }] });
    expect((await curate(client)).suggestions.map(({ id }) => id)).not.toContain(idOf("json2"));
    const all = await curate(client, { strategy: "auto", filter: { unnamed_only: false } });
    expect(all.waiting.map(({ id }) => id)).toContain(idOf("json2"));
    expect(all.applied.map(({ id }) => id)).not.toContain(idOf("json2"));
  });

  test("apply gives the valid names and reports the others; old names go on working [13.8-AC3] [13.8-AC7] [FR013]", async () => {
    const vague = learned.get("vague");
    const words = (await suggestionFor("words")) ?? "";
    const { applied, failed, isError } = await curate(client, {
      strategy: "apply",
      renames: [
        { id: idOf("vague"), name: "fs:describe_file" },
        { id: idOf("words"), name: words },
        { id: idOf("json2"), name: "not a name!" },
        { id: idOf("json2"), name: "fs:read_json" },
        { id: "00000000-0000-7000-8000-000000000000", name: "fs:nothing" },
      ],
    });
    expect(isError).toBe(false);
    expect(applied).toEqual([
      { id: idOf("vague"), oldName: vague?.capabilityName, newName: "fs:describe_file" },
      { id: idOf("words"), oldName: learned.get("words")?.capabilityName, newName: words },
    ]);
    expect(failed.map(({ error }) => error)).toEqual([
      "Invalid capability name format. Expected: namespace:action_target",
      expect.stringContaining("Capability name 'fs:read_json' already exists"),
      expect.stringContaining("Capability not found"),
    ]);
    const byOldName = await execute(client, { capability: vague?.capabilityName, args: { path: file } });
    expect(byOldName.status).toBe("success");
    expect(byOldName.warnings.join()).toContain(`"${vague?.capabilityName}" → "fs:describe_file"`);
    const nothing = await curate(client, { strategy: "apply", renames: [{ id: idOf("json2"), name: "!" }] });
    expect(nothing.isError).toBe(true);
  });

  test("apply without anything to apply is an error that says what is missing [FR013]", async () => {
    const { isError } = await curate(client, { strategy: "apply" });
    expect(isError).toBe(true);
  });

  test("what is used often without a name comes with a word about it; how many there are is told", async () => {
    await learn("often", "reverse the rows", "return args.rows.toReversed();");
    const runs = Array.from({ length: 4 }, () => ({
      capability: learned.get("often")?.capabilityName,
      args: { rows: [1] },
    }));
    const answers: Executed[] = [];
    for (const run of runs) answers.push(await execute(client, run));
    expect(answers[0]?.warnings).toEqual([]);
    expect(answers.at(-1)?.warnings.join()).toContain("was used 5 times and has no name; pml_curate_capabilities");
    expect((await stats()).unnamed).toBe(1);
    await curate(client, { strategy: "apply", renames: [{ id: idOf("often"), name: "transform:reverse_rows" }] });
    const named = await execute(client, { capability: "transform:reverse_rows", args: { rows: [1] } });
    expect(named.warnings).toEqual([]);
    expect((await stats()).unnamed).toBe(0);
  });

  test("learn:curate is the same tool [FR056] [TS-L4]", async () => {
    const { suggestions } = await curate(client, {}, "learn:curate");
    expect(suggestions).toEqual((await curate(client)).suggestions);
  });

  test("a name that was turned down does not come back", async () => {
    await learn("sorted", "sort rows", "return args.rows.toSorted();");
    const proposed = await suggestionFor("sorted");
    const { rejected } = await curate(client, { strategy: "apply", rejects: [idOf("sorted")] });
    expect(rejected).toEqual([idOf("sorted")]);
    expect(await suggestionFor("sorted")).not.toBe(proposed);
  });

  test("the model of a client that lends one proposes names; they must be legal all the same [13.10-AC3]", async () => {
    const asked: string[] = [];
    const model = (text: string): string => {
      asked.push(text);
      return '[{"n":1,"name":"transform:order_rows","reason":"it puts rows in order"}]';
    };
    for (const era of ["legacy", "auto"] as const) {
      await using lending = await connectClient(home.path, { transport: "http", era, model });
      const { suggestions, warnings } = await curate(lending.client);
      expect(warnings).toEqual([]);
      expect(suggestions).toEqual([
        expect.objectContaining({ id: idOf("sorted"), suggestedName: "transform:order_rows", source: "sampling" }),
      ]);
    }
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain("sort rows");
  });

  test("the command line shows, gives and counts names; a dry run changes nothing", async () => {
    const dry = await runJson<{ applied: unknown[] }>(["curate", "--auto", "--min-confidence", "0.1", "--dry-run"], {
      home: home.path,
    });
    expect(dry.applied).toHaveLength(1);
    const waiting = await runJson<{ kind: string; suggestedName?: string }[]>(["inbox"], { home: home.path });
    expect(waiting).toContainEqual(expect.objectContaining({ kind: "naming", suggestedName: "transform:order_rows" }));
    const shown = await runPml(["curate"], { home: home.path, input: "" });
    expect(shown.stdout).toContain(learned.get("sorted")?.capabilityName);
    const names = join(work.path, "names.json");
    writeFileSync(names, JSON.stringify([{ id: idOf("sorted"), name: "transform:sort_rows" }]));
    const applied = await runPml(["curate", "--apply", names], { home: home.path });
    expect(applied.stdout).toContain("→ transform:sort_rows");
    expect((await curate(client)).suggestions).toEqual([]);
  });

  test("what became of every proposal is remembered over a restart, and how many were taken is reported [NFR007]", async () => {
    const before = await stats();
    expect(before).toMatchObject({ pending: expect.any(Number), rejected: 1, unnamed: 0 });
    expect(before.accepted).toBeGreaterThan(0);
    expect(before.auto).toBe(before.accepted - 1);
    expect(before.edited).toBe(3);
    expect(before.acceptanceRate).toBeCloseTo(before.accepted / (before.accepted + 4));
    await runPml(["down"], { home: home.path });
    await runJson(["up"], { home: home.path });
    expect(await stats()).toEqual(before);
    await using fresh = await connectClient(home.path, { transport: "http" });
    expect((await execute(fresh.client, { capability: "fs:read_json", args: { path: file } })).result).toEqual({
      port: 1,
    });
    expect((await curate(fresh.client)).suggestions).toEqual([]);
  });

  test("confidence is 0.3 for the tools, 0.3 for the intent and 0.4 for the form of the name, each as far as it fits [13.10-AC4]", async () => {
    await using fresh = await connectClient(home.path, { transport: "http" });
    ({ client } = fresh);
    const info = "(await mcp.filesystem.get_file_info({ path: args.path })).content";
    const found = "await mcp.memory.search_nodes({ query: args.text })";
    await learn("clear", "read a text file and count its lines", `return ${READ}.split("\\n").length;`);
    await learn("toolless", "reverse the letters of a text", `return args.text.split("").reverse().join("");`);
    await learn("unclear", "do that thing once more", `return ${info}.length + 1;`);
    await learn("mixed", "read a file and search the graph", `return [${info}, ${found}].length;`);
    await learn("formless", "compute", `return args.rows.length;`);
    const { suggestions } = await curate(client);
    const partsOf = (key: string): { rated: number; tools: number; intent: number; pattern: number } => {
      const { confidence = -1, reasoning = "" } = suggestions.find(({ id }) => id === idOf(key)) ?? {};
      const [, ...texts] = /tools (\d+) %, intent (\d+) %, pattern (\d+) %$/.exec(reasoning) ?? [];
      const [tools = -1, intent = -1, pattern = -1] = texts.map((text) => Number(text) / 100);
      return { rated: confidence, tools, intent, pattern };
    };
    // Texts have the parts in whole percents, so that their sum may be off by half of one.
    for (const key of ["clear", "toolless", "unclear", "mixed", "formless"]) {
      const { rated, tools, intent, pattern } = partsOf(key);
      expect([key, Math.abs(rated - (0.3 * tools + 0.3 * intent + 0.4 * pattern)) <= 0.01]).toEqual([key, true]);
    }
    expect(partsOf("clear")).toEqual({ rated: 1, tools: 1, intent: 1, pattern: 1 });
    expect(partsOf("toolless")).toMatchObject({ tools: 0.5, pattern: 1 });
    expect(partsOf("unclear")).toEqual({ rated: 0.7, tools: 1, intent: 0, pattern: 1 });
    expect(partsOf("mixed").tools).toBeLessThan(1);
    expect(partsOf("formless").pattern).toBeLessThan(1);
  });
});
