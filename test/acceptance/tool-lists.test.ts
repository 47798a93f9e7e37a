import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectEvery } from "../support/every-client.ts";
import { call, listsEverything, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

const MANY = 20_000;

test("20,000 tools: every client gets all of them, in the same order, in less than 64 pages [mcp-7]", async () => {
  await using home = await startGateway({ big: servers.chaos("big", `--tools=${MANY}`) }, { config: listsEverything });
  await home.ready("big");
  await using clients = await connectEvery(home.path);
  const [first = "", ...others] = await Promise.all(
    clients.map(async (client) => JSON.stringify((await client.listTools()).map(({ name }) => name))),
  );
  const names = JSON.parse(first) as string[];
  expect(names.length).toBeGreaterThan(MANY);
  expect(new Set(names).size).toBe(names.length);
  for (const other of others) expect(other === first).toBe(true);

  await using connected = await connectClient(home.path);
  let pages = 0;
  let cursor: string | undefined;
  do {
    const page = await connected.client.request({
      method: "tools/list",
      params: cursor === undefined ? {} : { cursor },
    });
    pages += 1;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(pages).toBeLessThan(64);
  expect((await call(connected.client, `big__more_${MANY}`)).text).toBe(`big/more-${MANY}`);
}, 120_000);

test("lists of the current protocol say how long they hold and for whom; after a notice they have the change [mcp-8]", async () => {
  await using home = await startGateway(
    { chaos: servers.chaos("chaos"), fixture: servers.fixture() },
    { config: listsEverything },
  );
  await home.ready("chaos", "fixture");
  for (const transport of ["stdio", "http"] as const) {
    await using connected = await connectClient(home.path, { transport, era: "auto" });
    const { client } = connected;
    const lists = [client.listTools(), client.listPrompts(), client.listResources(), client.listResourceTemplates()];
    for (const list of await Promise.all<unknown>(lists)) {
      expect(list).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
    }
    const changes = connected.toolChanges.count;
    const { text } = await call(client, "chaos__grow");
    await until("the client was told", () => connected.toolChanges.count > changes);
    const { tools } = await client.listTools({}, { cacheMode: "refresh" });
    const grown = text.split(" ").at(-1)?.replace("-", "_");
    expect(tools.map(({ name }) => name)).toContain(`chaos__${grown}`);
  }
});

test("a server's own news reaches every client once, and its tools follow [mcp-24]", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  await using clients = await connectEvery(home.path);
  await clients[0]?.callTool("chaos__grow", {});
  await until("every client was told", () => clients.every(({ toolChanges }) => toolChanges.count > 0));
  // A second change, by which a surplus notification of the first would have arrived.
  await clients[0]?.callTool("chaos__grow", {});
  await until("every client was told again", () => clients.every(({ toolChanges }) => toolChanges.count > 1));
  expect(clients.map(({ toolChanges }) => toolChanges.count)).toEqual(clients.map(() => 2));
  for (const client of clients) {
    expect((await client.listTools()).map(({ name }) => name)).toContain("chaos__grown_2");
  }
});

test("unknown tools, wrong arguments and hidden tools: each client gets the same answer [mcp-9] [mcp-25]", async () => {
  await using home = await startGateway({ everything: servers.everything });
  await home.ready("everything");
  await using clients = await connectEvery(home.path);
  for (const client of clients) {
    await expect(client.callTool("everything__get_som", {})).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("Unknown tool: everything__get_som. Did you mean everything__get_sum?"),
    });
    await expect(client.callTool("everything:simulate-research-query", {})).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("it can only be run as a task"),
    });
    expect((await client.listTools()).map(({ name }) => name)).not.toContain("everything__simulate_research_query");
    const wrong = await client.callTool("everything__get_sum", { a: "x", b: 1 });
    expect(wrong.isError).toBe(true);
    expect(JSON.stringify(wrong.content)).toMatch(/path.{1,30}\\"a\\"|at a\b/s);
    expect(await client.callTool("cap:fs:nothing", {})).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "Capability not found: fs:nothing" }],
    });
  }
});

test("each call is on record, refused and failed ones too [mcp-41]", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  {
    await using connected = await connectClient(home.path);
    const { client } = connected;
    await call(client, "chaos__echo", { text: "x" });
    await call(client, "chaos__echo", {});
    await call(client, "chaos__strict", {}).catch(() => undefined);
    await call(client, "chaos__nothing").catch(() => undefined);
    await call(client, "cap:no:such").catch(() => undefined);
  }
  const file = join(home.path, "memory.pml");
  await runJson(["export", "-o", file], { home: home.path });
  const rows = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`["audit_log"`));
  const calls = rows.map(
    (line) => (JSON.parse(line) as [string, { action: string; subject: string; outcome: string }])[1],
  );
  expect(
    calls.filter(({ action }) => action === "tool.call").map(({ subject, outcome }) => `${subject} ${outcome}`),
  ).toEqual([
    "chaos:echo success",
    "chaos:echo error",
    "chaos:strict error",
    ":chaos__nothing refused",
    ":cap:no:such refused",
  ]);
});
