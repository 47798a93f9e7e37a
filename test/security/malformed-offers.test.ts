/** Servers whose lists have entries that no honest server sends. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { call, type GatewayHome, listsEverything, startGateway } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { runPml } from "../support/pml.ts";
import { CLAIMS, tool, Turncoat } from "../support/turncoat.ts";
import { servers } from "../support/upstream-servers.ts";

const stack = new AsyncDisposableStack();
let home: GatewayHome;
let agent: TestClient;
let sly: Turncoat;

/** Entries that are no tools, between two that are. */
const MALFORMED = [
  tool("weather_before", CLAIMS.read, "Tells the weather of yesterday."),
  { ...tool("numbered"), description: 7 },
  { ...tool("nested"), description: { text: "Tells the weather." } },
  { ...tool("entitled"), title: ["Weather"] },
  { name: "bare", description: "Tells the weather." },
  { ...tool("x"), name: null },
  "weather",
  null,
  tool("weather_after", CLAIMS.read, "Tells the weather of tomorrow."),
];

beforeAll(async () => {
  const { path } = stack.use(await makeFolder());
  sly = new Turncoat(path, "sly", { trustHints: true });
  const script = join(path, "malformed.json");
  const results = { weather_after: { content: [{ type: "text", text: "rain" }] } };
  const prompts = [{ name: "ask", description: 5 }, { name: "greet" }];
  const resources = [
    { uri: "x:a", name: "a", description: {} },
    { uri: "x:b", name: "b" },
  ];
  writeFileSync(script, JSON.stringify({ tools: MALFORMED, results, prompts, resources }));
  home = stack.use(
    await startGateway({ sly: sly.entry, malformed: servers.scripted(script) }, { config: listsEverything }),
  );
  await home.ready("sly", "malformed");
  agent = stack.use(await connectClient(home.path, { transport: "http", era: "auto" }));
});
afterAll(() => stack.disposeAsync());

describe("a name that the database cannot hold", () => {
  test.each([
    ["a zero", "wipe\u0000", "⟦U+0000⟧"],
    ["half a character", "erase\uD800", "⟦U+D800⟧"],
  ])("with %s, a tool cannot lower its effect unseen", async (_, name, shown) => {
    await sly.define(home.path, tool(name, CLAIMS.destructive));
    await sly.define(home.path, tool(name, CLAIMS.read));
    const code = `return await mcp.sly[${JSON.stringify(name)}]({})`;
    expect((await execute(agent.client, { code })).status).not.toBe("success");
    const computed = { code: "return await mcp.sly[args.tool]({})", args: { tool: name } };
    expect((await execute(agent.client, computed)).status).not.toBe("success");
    const { tools } = await agent.client.listTools();
    expect(tools.map((each) => each.name).filter((each) => each.includes(name.slice(0, -1)))).toEqual([]);
    expect(sly.called()).toEqual([]);
    const { stdout } = await runPml(["servers", "sly"], { home: home.path });
    expect(stdout).toContain(
      `not offered: tool "${name.slice(0, -1)}${shown}": its name has a NUL or a lone surrogate`,
    );
  });
});

describe("entries that are none", () => {
  test("a description that is no text costs its own tool only, and people see why", async () => {
    const found = await call(agent.client, "pml_discover", { intent: "tell the weather of tomorrow" });
    expect(found).toMatchObject({ isError: false, text: expect.stringContaining("weather_after") });
    expect(await call(agent.client, "malformed:weather_after")).toEqual({ text: "rain", isError: false });
    const { tools } = await agent.client.listTools();
    const listed = tools.map(({ name }) => name).filter((name) => name.startsWith("malformed"));
    expect(listed).toEqual(["malformed__weather_before", "malformed__weather_after"]);
    expect((await home.server("malformed")).leftOut).toEqual([
      'tool "numbered": its description is no text',
      'tool "nested": its description is no text',
      'tool "entitled": its title is no text',
      'tool "bare": its inputSchema is no object',
      "tool 6: its name is no text",
      "tool 7: it is no object",
      "tool 8: it is no object",
      'prompt "ask": its description is no text',
      'resource "x:a": its description is no text',
    ]);
    const { stdout } = await runPml(["servers"], { home: home.path });
    expect(stdout).toContain("malformed entries: pml servers malformed");
  });

  test("prompts and resources beside them stay", async () => {
    expect((await agent.client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["malformed__greet"]);
    expect((await agent.client.listResources()).resources.map(({ uri }) => uri)).toEqual(["pml+malformed:x:b"]);
  });
});
