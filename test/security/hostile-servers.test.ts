import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { call, listsEverything, shareGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { servers } from "../support/upstream-servers.ts";

const folder = await makeFolder();
const inputSchema = { type: "object" };
const long = "a".repeat(40_000);

/** Doubles with each level: written out it has 2 ** 40 parts. */
const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, at) => [
    `d${at}`,
    { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
  ]),
);

/** Output schemas that take for ever with their value. */
const schemas: Readonly<Record<string, { readonly schema: object; readonly value: object }>> = {
  backtracking: {
    schema: { properties: { text: { type: "string", pattern: "^(a+)+$" }, rest: {} } },
    value: { text: `${"a".repeat(40)}!`, rest: long.repeat(3) },
  },
  pattern_properties: {
    schema: { patternProperties: { "^(a|a)*b$": {} } },
    value: { [`${"a".repeat(40)}!`]: 1, rest: long.repeat(3) },
  },
  doubling: {
    schema: { $ref: "#/$defs/d0", $defs: { ...doubling, d40: { type: "object" } } },
    value: { rest: long.repeat(3) },
  },
  alternatives: {
    schema: {
      anyOf: [{ type: "object", properties: { a: { $ref: "#" } } }, { allOf: [{ $ref: "#" }, { $ref: "#" }] }],
    },
    value: { a: { a: { a: { a: {} } } }, rest: long.repeat(3) },
  },
};

const tools = Object.entries(schemas).map(([name, { schema }]) => ({
  name,
  inputSchema,
  outputSchema: { type: "object", ...schema },
}));
const results = Object.fromEntries(
  Object.entries(schemas).map(([name, { value }]) => [name, { content: [], structuredContent: value }]),
);
/** Answers and definitions out of all proportion. */
const deep = JSON.parse(`${"[".repeat(3_000)}${"]".repeat(3_000)}`) as unknown;
const largeTools = [
  { name: "talkative", inputSchema, description: "x".repeat(3_500_000), title: "y".repeat(100_000) },
  {
    name: "choosy",
    inputSchema: { type: "object", properties: { a: { enum: Array.from({ length: 60_000 }, String) } } },
  },
  { name: "deep", inputSchema },
  { name: "many", inputSchema },
  { name: "deep_text", inputSchema },
];
const largeResults = {
  deep: { content: [], structuredContent: { deep } },
  many: { content: [], structuredContent: { many: Array.from({ length: 300_000 }, () => []) } },
  deep_text: { content: [{ type: "text", text: `${"[".repeat(100_000)}${"]".repeat(100_000)}` }] },
};
const templates = [
  { name: "stars", uriTemplate: `x:${"{a}a".repeat(100)}b` },
  { name: "braces", uriTemplate: `y:${"{".repeat(8_000)}` },
  { name: "huge", uriTemplate: `z:${"{a}".repeat(80_000)}` },
];

writeFileSync(join(folder.path, "hostile.json"), JSON.stringify({ tools, results, templates }));
writeFileSync(join(folder.path, "large.json"), JSON.stringify({ tools: largeTools, results: largeResults }));
writeFileSync(join(folder.path, "second.json"), JSON.stringify({ tools: [], results: {}, templates: [] }));

describe("H5: patterns of a server", () => {
  const gateway = shareGateway(
    {
      hostile: servers.scripted(join(folder.path, "hostile.json")),
      second: servers.scripted(join(folder.path, "second.json")),
      large: servers.scripted(join(folder.path, "large.json")),
    },
    {
      config: {
        ...listsEverything,
        analysis: { maxMillis: 3_000 },
        permissions: { allow: ["large:*"] },
      },
    },
  );
  afterAll(() => folder[Symbol.asyncDispose]());

  test("H5: a pattern in an output schema ends at analysis.maxMillis, while others are answered", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    await using other = await connectClient(gateway().path, { transport: "http" });
    const events: string[] = [];
    const hostile = agent.client
      .request({ method: "tools/call", params: { name: "hostile__backtracking", arguments: {} } })
      .then((result) => {
        events.push("hostile");
        return result;
      });
    await other.client.listTools().then(() => events.push("list"));
    await other.client.listTools().then(() => events.push("list"));
    const [block] = (await hostile).content.slice(-1);
    expect(block).toMatchObject({ type: "text", text: expect.stringContaining("analysis.maxMillis") });
    expect(events).toEqual(["list", "list", "hostile"]);
  });

  test.each(Object.keys(schemas))("H5: the output schema %s does not hold up the gateway", async (name) => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const result = await agent.client.request({
      method: "tools/call",
      params: { name: `hostile__${name}`, arguments: {} },
    });
    expect(JSON.stringify(result.content.at(-1))).toContain("pml_get_task_result");
  });

  test.each([
    ["many variables", `x:${"a".repeat(8_000)}`, "not found"],
    ["unclosed braces", `y:${"{".repeat(7_000)}`, "not found"],
    ["a URI beyond the limit", `x:${"a".repeat(200_000)}`, "8192"],
  ])("H5: a resource template with %s", async (_, uri, message) => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    await expect(agent.client.readResource({ uri })).rejects.toThrow(message);
  });

  test("H7: a description of megabytes is cut in lists, and says so", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const { tools: listed } = await agent.client.listTools();
    const talkative = listed.find(({ name }) => name === "large__talkative");
    expect(talkative?.description).toMatch(/^x{8191}…$/);
    expect(talkative?.title).toMatch(/^y{255}…$/);
    expect(JSON.stringify(listed).length).toBeLessThan(200_000);
    const found = await call(agent.client, "pml_discover", { intent: "talkative" });
    expect(found.text.length).toBeLessThan(200_000);
  });

  test("H7: a tool with a definition beyond the limit is not offered", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const { tools: listed } = await agent.client.listTools();
    expect(listed.map(({ name }) => name)).not.toContain("large__choosy");
    await expect(call(agent.client, "large:choosy")).rejects.toThrow("262144");
  });

  test.each([
    ["deep", "nested more than 500 levels"],
    ["many", "more than 250000 values"],
  ])("H5: an answer that is %s fails its call only", async (name, message) => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    await expect(call(agent.client, `large__${name}`)).rejects.toThrow(message);
    expect((await agent.client.listTools()).tools.length).toBeGreaterThan(0);
  });

  test("H5: a program gets deeply nested JSON in a text as text", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const { result } = await execute(agent.client, {
      code: "const text = await mcp.large.deep_text({}); return typeof text",
    });
    expect(result).toBe("string");
  });
});
