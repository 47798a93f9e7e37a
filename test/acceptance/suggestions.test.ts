/** Suggestions for an intent: tools, capabilities, a plan, or the result of a capability that clearly fits. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { approve } from "../support/decide.ts";
import { execute, type Executed } from "../support/execute.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { runJson, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

let scene: CountingScene;
let connected: TestClient;

const text = { type: "string" };
const object = (properties: Record<string, unknown>) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});
const answer = (value: unknown) => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
});

/** A server whose tools feed each other. */
const WEB = {
  tools: [
    {
      name: "load_document",
      description: "Load a document and return its content.",
      inputSchema: object({ path: text }),
      outputSchema: object({ content: text }),
      annotations: { readOnlyHint: true },
    },
    {
      name: "parse_document",
      description: "Parse the JSON text of a document into data.",
      inputSchema: object({ json: text }),
      outputSchema: object({ data: { type: "object" } }),
      annotations: { readOnlyHint: true },
    },
    {
      name: "publish_document",
      description: "Publish a parsed document to an address.",
      inputSchema: object({ url: text, body: { type: "object" } }),
      outputSchema: object({ status: { type: "integer" } }),
      annotations: { readOnlyHint: true },
    },
  ],
  results: {
    load_document: answer({ content: `{"a":1}` }),
    parse_document: answer({ data: { a: 1 } }),
    publish_document: answer({ status: 201 }),
  },
};

const reads = { annotations: { readOnlyHint: true } };
const HEADLINE = object({ headline: text });

/** A server with two providers of one field, and tools that need all, some or none of it. */
const PRESS = {
  tools: [
    {
      name: "morning",
      description: "The headline of the morning.",
      inputSchema: object({}),
      outputSchema: HEADLINE,
      ...reads,
    },
    {
      name: "evening",
      description: "What the late edition opens with.",
      inputSchema: object({}),
      outputSchema: HEADLINE,
      ...reads,
    },
    { name: "print_headline", description: "Print a headline.", inputSchema: HEADLINE, ...reads },
    {
      name: "wire_headline",
      description: "Wire it to a city.",
      inputSchema: object({ headline: text, city: text }),
      ...reads,
    },
    {
      name: "shelve",
      description: "Shelve an edition.",
      inputSchema: { type: "object", properties: { year: text, headline: text }, required: ["year"] },
      ...reads,
    },
  ],
  results: {
    morning: answer({ headline: "Rain" }),
    evening: answer({ headline: "Sun" }),
    print_headline: answer({ printed: true }),
    wire_headline: answer({ sent: true }),
    shelve: answer({ shelved: true }),
  },
};

beforeAll(async () => {
  const permissions = { allow: ["filesystem:*"] };
  scene = await openCountingScene({ permissions, discovery: { tier: "lite", runAbove: 0.85 } }, (folder) => {
    const file = join(folder, "web.json");
    writeFileSync(file, JSON.stringify(WEB));
    const pressFile = join(folder, "press.json");
    writeFileSync(pressFile, JSON.stringify(PRESS));
    return { web: servers.scripted(file), press: servers.scripted(pressFile) };
  });
  connected = await connectClient(scene.home.path);
});

afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const run = (request: Record<string, unknown>): Promise<Executed> =>
  execute(connected.client, { options: { detail: "full" }, ...request });

async function restart(): Promise<void> {
  await connected[Symbol.asyncDispose]();
  await scene.restart();
  connected = await connectClient(scene.home.path);
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly source: string;
  readonly confidence: number;
  readonly weight: number;
}

async function edgesOf(name: string): Promise<Edge[]> {
  return (await runJson<{ edges: Edge[] }>(["graph", name], { home: scene.home.path })).edges;
}

/** Data-flow edges of a capability, as text. */
async function provides(name: string): Promise<string[]> {
  return (await edgesOf(name))
    .filter(({ type }) => type === "provides")
    .map(({ from, to, source, confidence }) => `${from} ${to} ${source} ${confidence}`);
}

describe("the graph", () => {
  test("[10.3-AC5] [10.3-AC6] knows what can feed what: from schemas, then from texts, then from runs, also after a restart", async () => {
    const { capabilityName: looks } = await run({
      code: `return [mcp.web.load_document, mcp.web.parse_document, mcp.web.publish_document].length`,
    });
    const bySchema = [
      "web:load_document web:parse_document template 0.3",
      "web:parse_document web:publish_document template 0.3",
    ];
    await until("schemas were compared", async () => (await provides(looks)).length === bySchema.length);
    expect(await provides(looks)).toEqual(bySchema);
    const code = `const { content } = await mcp.web.load_document({ path: args.path });
      if (args.stop) throw new Error("stopped");
      return await mcp.web.parse_document({ json: content });`;
    const failed = await run({ code, args: { path: "a", stop: true } });
    expect(failed.status).toBe("error");
    expect((await provides(looks))[0]).toBe("web:load_document web:parse_document inferred 0.5");
    for (const path of ["a", "b", "c"]) await run({ code, args: { path, stop: false } });
    await restart();
    expect(await provides(looks)).toEqual(["web:load_document web:parse_document observed 0.75", bySchema[1]]);
  });

  test("[10.3-AC1] [10.3-AC2] has four types of edges, each with its weight; a declared dependency decides a plan, also after a restart", async () => {
    const planned = async (): Promise<string[]> => {
      const { suggestions } = await run({ intent: "print the headline" });
      return suggestions.suggestedDag?.nodes.map(({ tool = "" }) => tool) ?? [];
    };
    for (const source of ["morning", "evening"])
      await run({ code: `return await mcp.press.print_headline(await mcp.press.${source}({}));` });
    expect(await planned()).toEqual(["press:morning", "press:print_headline"]);
    const print = { id: "print", tool: "press:print_headline", arguments: { headline: "Fog" }, depends_on: ["wait"] };
    const declared = await run({ dag: { tasks: [{ id: "wait", tool: "press:evening" }, print] } });
    expect(await planned()).toEqual(["press:evening", "press:print_headline"]);
    await restart();
    expect(await planned()).toEqual(["press:evening", "press:print_headline"]);
    const own = `cap:${declared.capabilityId}`;
    const edges = await edgesOf(declared.capabilityName);
    const weights = edges.map(({ from, to, type, weight }) => `${from} ${to} ${type} ${weight.toFixed(2)}`);
    expect(weights).toEqual([
      `${own} press:evening contains 0.40`,
      `${own} press:print_headline contains 0.40`,
      "press:evening press:print_headline dependency 0.50",
      "press:evening press:print_headline provides 0.35",
      "press:evening press:print_headline sequence 0.33",
    ]);
  });

  test("[E10-P4] tells data that covers all, some or none of what a tool needs, after a restart", async () => {
    const { capabilityName } = await run({
      code: `const { headline } = await mcp.press.morning({});
        await mcp.press.print_headline({ headline });
        await mcp.press.wire_headline({ headline, city: "Rome" });
        await mcp.press.shelve({ year: "2026", headline });`,
    });
    await restart();
    const { graph } = await runJson<{ graph: { edges: (Edge & { coverage?: string })[] } }>(["graph", capabilityName], {
      home: scene.home.path,
    });
    const data = graph.edges.filter(({ type }) => type === "provides");
    expect(data.map(({ from, to, coverage }) => `${from} ${to} ${coverage}`)).toEqual([
      "n1 n2 strict",
      "n1 n3 partial",
      "n1 n4 optional",
    ]);
  });

  test("[10.2-AC6] [10.3-AC3] [10.3-AC4] [10.3-AC7] [10.3-AC8] [E10-FR3] gives an intent a plan with the sources of its arguments, which runs as it is", async () => {
    const asked = await run({ intent: "load a document, parse its JSON and publish it" });
    const plan = asked.suggestions.suggestedDag;
    expect(plan?.from).toBe("graph");
    expect(plan?.nodes).toEqual([
      { id: "t1", tool: "web:load_document", arguments: { path: { type: "parameter", parameterName: "path" } } },
      {
        id: "t2",
        tool: "web:parse_document",
        arguments: { json: { type: "reference", expression: "t1.content", nodes: ["t1"] } },
      },
      {
        id: "t3",
        tool: "web:publish_document",
        arguments: {
          url: { type: "parameter", parameterName: "url" },
          body: { type: "reference", expression: "t2.data", nodes: ["t2"] },
        },
      },
    ]);
    expect(plan?.edges).toEqual([
      {
        from: "t1",
        to: "t2",
        type: "provides",
        coverage: "strict",
        fieldMapping: [{ fromField: "content", toField: "json", typeCompatible: true }],
        providerOutputSchema: object({ content: text }),
        consumerInputSchema: object({ json: text }),
      },
      {
        from: "t2",
        to: "t3",
        type: "provides",
        coverage: "partial",
        fieldMapping: [{ fromField: "data", toField: "body", typeCompatible: true }],
        providerOutputSchema: object({ data: { type: "object" } }),
        consumerInputSchema: object({ url: text, body: { type: "object" } }),
      },
    ]);
    expect(plan?.missing).toMatchObject([
      { node: "t1", parameter: "path", schema: { type: "string" } },
      { node: "t3", parameter: "url" },
    ]);
    const done = await run({ dag: plan?.dag, args: { path: "x", url: "y" } });
    expect(done).toMatchObject({ status: "success", result: { status: 201 } });
  });
});

describe("an intent alone", () => {
  test("[10.7-AC4] [10.7-AC9] [E10-M8] gives tools and capabilities with declarations, learned types, and what they will do", async () => {
    const path = join(scene.folder, "words.txt");
    writeFileSync(path, "one two three");
    const code = `const { content } = await mcp.filesystem.read_text_file({ path: args.path });
      if (content === "") return { words: 0 };
      return { words: content.split(" ").length };`;
    const intent = "count the words of a text file";
    for (let index = 0; index < 2; index += 1) await run({ intent, code, args: { path }, name: "fs:count_words" });
    await restart();
    const asked = await run({ intent });
    expect(asked).toMatchObject({ status: "suggestions", mode: "suggestion" });
    const [capability] = asked.suggestions.capabilities;
    expect(capability).toMatchObject({
      callName: "cap:fs:count_words",
      declaration: "capabilities.fs.count_words(args: { path: string }): Promise<{ words: number }>",
      successRate: 1,
      dominantPath: ["n1"],
    });
    expect(asked.suggestions.confidence).toBeGreaterThan(0.9);
    expect(asked.suggestions.suggestedDag).toMatchObject({
      from: "capability",
      nodes: [{ id: "n1", tool: "filesystem:read_text_file", arguments: { path: { parameterName: "path" } } }],
      missing: [{ node: "n1", parameter: "path" }],
    });
    const tool = asked.suggestions.tools.find(({ id }) => id === "filesystem:read_text_file");
    expect(tool?.["declaration"]).toMatch(
      /^mcp\.filesystem\.read_text_file\(args: \{ path: string;.*\}\): Promise<\{ content: string \}>$/,
    );
    const accepted = await run({ intent, accept_suggestion: { callName: capability?.["callName"], args: { path } } });
    expect(accepted).toMatchObject({ status: "success", result: { words: 3 } });
  });
});

describe("an intent with context", () => {
  test("[10.7-AC3] [10.7-AC10] [10.7-AC11] runs the capability that is surely meant, with what it needs; otherwise says why not", async () => {
    const list = `return (await mcp.counting.list({ length: args.length })).items`;
    await run({ intent: "list all numbers below a limit", code: list, args: { length: 1 } });
    await run({ intent: "say hello to a person", code: "return `hello ${args.name}`", args: { name: "Ann" } });
    await restart();
    const hit = await run({ intent: "list the numbers below some limit", context: { length: 2 } });
    expect(hit).toMatchObject({ status: "success", mode: "speculation", result: [0, 1] });
    expect(hit.confidence).toBeGreaterThan(0.9);
    const incomplete = await run({ intent: "list all numbers below a limit", context: {} });
    expect(incomplete).toMatchObject({ status: "suggestions", reason: expect.stringContaining("needs length") });
    const wrong = await run({ intent: "list all numbers below a limit", context: { length: "two" } });
    expect(wrong).toMatchObject({ status: "suggestions", reason: expect.stringContaining("args.length") });
    const other = await run({ intent: "delete the numbers of yesterday's invoices", context: { length: 2 } });
    expect(other).toMatchObject({ status: "suggestions", reason: expect.stringContaining("No capability") });
  });

  test("does nothing that a person would have to be asked about, nor what mostly failed", async () => {
    const writes = `return (await mcp.counting.add({ key: args.key })).count`;
    const intent = "write a line into the logbook";
    const asked = await run({ intent, code: writes, args: { key: "first" } });
    await approve(scene.home.path, asked.approval?.id);
    await run({ intent, continue_workflow: { workflow_id: asked.workflowId } });
    const unasked = await run({ intent, context: { key: "second" } });
    expect(unasked).toMatchObject({ status: "suggestions", reason: expect.stringContaining("counting:add") });
    expect(unasked.reason).toContain("a person would have to be asked");
    expect(scene.happened()).toEqual(["add first"]);
    const wanted = await run({
      intent,
      accept_suggestion: { callName: unasked.suggestions.capabilities[0]?.["callName"], args: { key: "second" } },
    });
    expect(wanted.status).toBe("approval_required");

    const flaky = `if (args.broken) throw new Error("broken"); return "brewed";`;
    for (const broken of [false, true, true, true]) await run({ intent: "brew coffee", code: flaky, args: { broken } });
    const poor = await run({ intent: "brew coffee", context: { broken: false } });
    expect(poor).toMatchObject({ status: "suggestions", reason: expect.stringContaining("only 1 of its 4 runs") });
  });
});
