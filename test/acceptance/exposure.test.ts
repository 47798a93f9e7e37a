import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { call, startGateway } from "../support/gateway-home.ts";
import { clientKinds, connectClient, openRunning } from "../support/mcp-client.ts";
import { connectOldClient } from "../support/old-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";
import type { DiscoverAnswer } from "../../src/contract/discover.ts";

const OWN = ["pml_execute", "pml_discover", "pml_get_task_result", "pml_list_capabilities", "pml_curate_capabilities"];

async function listNames(client: Pick<Client, "listTools">): Promise<string[]> {
  const { tools } = await client.listTools();
  return tools.map(({ name }) => name);
}

async function discover(client: Client, input: Record<string, unknown>): Promise<DiscoverAnswer> {
  const { content, structuredContent } = await client.callTool({
    name: "pml_discover",
    arguments: { detail: "full", ...input },
  });
  const [text] = content;
  expect(JSON.parse(text?.type === "text" ? text.text : "")).toEqual(structuredContent);
  return structuredContent as DiscoverAnswer;
}

test("a long list shrinks to PML's own and pinned tools, the same for every client; all others are found and called [10.6-AC1] [10.6-AC8] [E10-FR6]", async () => {
  const gateway = { pinned: ["large:write_text", "chaos:*"] };
  const mcpServers = { large: servers.large("--tools=60"), everything: servers.everything };
  await using home = await startGateway(mcpServers, { config: { gateway } });
  await home.ready("large", "everything");
  for (const kind of clientKinds) {
    await using connected = await connectClient(home.path, kind);
    const { client } = connected;
    expect(await listNames(client)).toEqual([...OWN, "large__write_text"]);
    expect(client.getInstructions()).toContain("pml_discover");
    const { results } = await discover(client, { intent: "which tool fills place 37?" });
    const callName = results[0]?.callName ?? "";
    expect(results[0]).toMatchObject({ type: "tool", id: "large:filler_37", callName: "large__filler_37" });
    for (const name of [callName, "large:filler_37", "Large-Filler-37"]) {
      expect(await call(client, name)).toEqual({ text: "37", isError: false });
    }
  }
  for (const transport of ["stdio", "http"] as const) {
    await using old = await connectOldClient(home.path, transport);
    expect((await old.listTools()).tools.map(({ name }) => name)).toEqual([...OWN, "large__write_text"]);
    expect((await old.callTool({ name: "large__filler_9", arguments: {} })).content).toEqual([
      { type: "text", text: "9" },
    ]);
  }

  const all = await runJson<{ id: string; listed: boolean }[]>(["tools"], { home: home.path });
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([...OWN, "everything:echo", "large:filler_59"]));
  expect(all.filter(({ listed }) => listed).map(({ id }) => id)).toEqual([...OWN, "large:write_text"]);
  const agent = await runPml(["tools", "--as-agent"], { home: home.path });
  expect(agent.stdout).toBe(`${[...OWN, "large__write_text"].join("\n")}\n`);
  expect((await runPml(["call", "large:filler_3"], { home: home.path })).stdout).toBe("3\n");
});

test("with 305 tools behind the gateway an agent is shown at most 1,500 tokens of them by default [mcp-46]", async () => {
  await using home = await startGateway({ large: servers.large("--tools=305") });
  await home.ready("large");
  await using connected = await connectClient(home.path);
  const { tools } = await connected.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(OWN);
  const shown = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  expect(JSON.stringify(shown).length / 4).toBeLessThanOrEqual(1500);
  const { results } = await discover(connected.client, { intent: "which tool fills place 288?" });
  expect(results[0]).toMatchObject({ id: "large:filler_288" });
});

test("exposure is taken over while the daemon runs; clients are told when what they see changes, and only then", async () => {
  const mcpServers = { chaos: servers.chaos("chaos") };
  await using home = await startGateway(mcpServers, { config: { gateway: { exposure: "meta" } } });
  await home.ready("chaos");
  await using stdio = await connectClient(home.path);
  await using http = await connectClient(home.path, { transport: "http" });
  const counts = (): number[] => [stdio.toolChanges.count, http.toolChanges.count];
  expect(await listNames(stdio.client)).toEqual(OWN);

  expect(await call(stdio.client, "chaos__grow")).toMatchObject({ text: "grown-1" });
  await until("the new tool can be called", async () =>
    (await call(http.client, "chaos:grown-1").catch(() => ({ text: "" }))).text.endsWith("grown-1"),
  );
  await sleep(600); // a notification would have come by now
  expect(counts()).toEqual([0, 0]);

  writeConfig(home.path, { mcpServers, gateway: { exposure: "pinned", pinned: ["chaos:echo"] } });
  await until("both were told", () => counts().every((count) => count === 1));
  expect(await listNames(stdio.client)).toEqual([...OWN, "chaos__echo"]);
  writeConfig(home.path, { mcpServers, gateway: { exposure: "full" } });
  await until("both were told", () => counts().every((count) => count === 2));
  expect(await listNames(http.client)).toEqual(expect.arrayContaining([...OWN, "chaos__echo", "chaos__grown_1"]));
  writeConfig(home.path, { mcpServers, gateway: { exposure: "auto", maxListedTools: 5, pinned: ["chaos:echo"] } });
  await until("both were told", () => counts().every((count) => count === 3));
  expect(await listNames(http.client)).toEqual([...OWN, "chaos__echo"]);
  writeConfig(home.path, { mcpServers, gateway: { exposure: "sometimes" } });
  await until("the mistake was noticed", () =>
    /gateway\.exposure.*nothing was changed/.test(readFileSync(join(home.path, "daemon.log"), "utf8")),
  );
  expect(await listNames(http.client)).toEqual([...OWN, "chaos__echo"]);
});

test("pml_discover ranks, filters and pages over what is permitted, also before any server is connected [10.6-AC3] [10.6-AC5] [10.6-AC10]", async () => {
  const chaos = { ...servers.chaos("chaos"), tools: ["echo", "pid"] };
  const mcpServers = { large: servers.large("--tools=12"), chaos };
  // once it is warm, the model would change the scores a little
  const discovery = { tier: "lite" };
  await using home = await startGateway(mcpServers, { config: { discovery } });
  await home.ready("large", "chaos");
  await using connected = await connectClient(home.path, { transport: "http", era: "auto" });
  const { client } = connected;
  const first = await discover(client, { intent: "query the rows of a table" });
  expect(first.results[0]).toMatchObject({
    type: "tool",
    id: "large:query_rows",
    name: "query_rows",
    callName: "large__query_rows",
    description: "Queries rows of a table",
    score: expect.any(Number),
    why: { words: { points: expect.any(Number), text: expect.stringContaining("row") }, meaning: expect.anything() },
    inputSchema: { type: "object", required: ["count"] },
    outputSchema: { type: "object" },
  });
  const page = { intent: "fill place", limit: 5, filter: { server: "large" } };
  const pages = [await discover(client, page), await discover(client, { ...page, offset: 5 })];
  expect(pages.map(({ results, meta }) => [results.length, meta.next_offset])).toEqual([
    [5, 5],
    [5, 10],
  ]);
  expect(new Set(pages.flatMap(({ results }) => results.map(({ id }) => id))).size).toBe(10);
  const ids = async (filter: object): Promise<string[]> =>
    (await discover(client, { intent: "echo pid table", filter })).results.map(({ id = "" }) => id);
  expect((await ids({ server: "chaos" })).toSorted()).toEqual(["chaos:echo", "chaos:pid"]);
  expect((await ids({ namespace: "large" }))[0]).toBe("large:query_rows");
  expect(await ids({ type: "tool" })).toEqual(expect.arrayContaining(["chaos:echo", "chaos:pid", "large:query_rows"]));
  expect(await ids({ type: "capability" })).toEqual([]);
  expect(await ids({ minScore: 1 })).toEqual([]);
  const hanging = await discover(client, { intent: "hang" });
  expect(hanging.results.map(({ id }) => id)).not.toContain("chaos:hang"); // not among the allowed tools

  const wrong = await client.callTool({ name: "pml_discover", arguments: { intent: 7, filter: { serever: "x" } } });
  expect(wrong).toMatchObject({ isError: true, structuredContent: { error: { code: "arguments_invalid" } } });
  expect(JSON.stringify(wrong.structuredContent)).toMatch(/intent.*expected string, got 7.*filter\.serever.*server/);

  await runPml(["down"], { home: home.path });
  const gone = { ...servers.large("--tools=12"), command: "/nowhere/node" };
  writeConfig(home.path, { discovery, mcpServers: { ...mcpServers, gone } });
  await runJson(["up"], { home: home.path });
  await using again = await connectClient(home.path);
  expect(await discover(again.client, { intent: "query the rows of a table" })).toEqual(first);
  writeConfig(home.path, { discovery, mcpServers: { chaos } });
  await until("what is gone is not found", async () => {
    const { results } = await discover(again.client, { intent: "query the rows of a table" });
    return results.every(({ id }) => id !== "large:query_rows");
  });

  const exported = join(home.path, "memory.pml");
  await runJson(["export", "-o", exported], { home: home.path });
  const rows = readFileSync(exported, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("["))
    .map((line) => JSON.parse(line) as [string, Record<string, unknown>]);
  const used = rows.filter(([table, row]) => table === "tool_usage" && row["server_id"] === "pml");
  expect(used[0]?.[1]).toMatchObject({ tool_name: "pml_discover", outcome: "success", client: "test-client" });
  expect(used.map(([, row]) => row["error_code"])).toContain("arguments_invalid");
  expect(rows.some(([table, row]) => table === "audit_log" && row["subject"] === "pml:pml_discover")).toBe(true);
});

test("/mcp?names=canonical lists the names with colons, beside /mcp", async () => {
  await using home = await startGateway({ everything: servers.everything });
  await home.ready("everything");
  for (const mode of ["legacy", "auto"] as const) {
    const lists: string[][] = [];
    for (const path of ["/mcp", "/mcp?names=canonical", "/mcp?names=portable"]) {
      const client = new Client({ name: "names", version: "1" }, { versionNegotiation: { mode } });
      await client.connect(openRunning(home.path, path));
      lists.push(await listNames(client));
      expect((await call(client, "everything:echo", { message: "x" })).text).toBe("Echo: x");
      await client.close();
    }
    const [configured = [], canonical = [], portable = []] = lists;
    expect(canonical.slice(0, OWN.length + 1)).toEqual([...OWN, "everything:echo"]);
    expect(configured.slice(0, OWN.length + 1)).toEqual([...OWN, "everything__echo"]);
    expect(portable).toEqual(configured);
    expect(canonical).toHaveLength(configured.length);
  }
  const address = readDaemonAddress(home.path);
  const response = await fetch(new URL("/mcp?names=short", address?.url), {
    method: "POST",
    headers: { Authorization: `Bearer ${address?.token}`, "Content-Type": "application/json" },
    body: "{}",
  });
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringContaining("names=short is not known; there are portable and canonical"),
  ]);
});
