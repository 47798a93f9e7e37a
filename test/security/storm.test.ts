/** A server that changes its definitions without end. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { makeFolder } from "../support/folder.ts";
import { call, type GatewayHome, listsEverything, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runPml, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

const stack = new AsyncDisposableStack();
let folder: string;
let home: GatewayHome;

/** Readings that offers of this size may cause at once, and a few that time pays for while the test runs. */
const READ_AT_ONCE = 25;
const MOST_READ = 31;

function storm(name: string, tools: number, length: number): McpServerEntry {
  const log = join(folder, name);
  writeFileSync(log, "");
  const script = join(import.meta.dirname, "..", "support", "storm-server.ts");
  return { command: process.execPath, args: [script, log, String(tools), String(length)] };
}

function listings(name: string): number {
  return readFileSync(join(folder, name), "utf8").split("\n").length - 1;
}

beforeAll(async () => {
  folder = stack.use(await makeFolder()).path;
  const entries = { small: storm("small", 3, 20_000), large: storm("large", 500, 4_000), calm: servers.chaos("calm") };
  home = stack.use(await startGateway(entries, { config: listsEverything }));
  await home.ready("small", "large", "calm");
});
afterAll(() => stack.disposeAsync());

test("a storm of changes is read as far as its budget goes, others are served, and few changes are kept", async () => {
  await using agent = await connectClient(home.path, { transport: "http", era: "auto" });
  await until("the budget is spent", () => listings("small") >= READ_AT_ONCE, 60_000);
  await sleep(3_000);
  expect(listings("small")).toBeLessThan(MOST_READ);
  expect(listings("large")).toBeLessThan(6);
  expect(await call(agent.client, "calm:echo", { text: "hello" })).toMatchObject({ isError: false });
  expect(await call(agent.client, "small:tool_1")).toEqual({ text: "calm", isError: false });
  const changes = await exportedRows(home.path, "tool_schema_change");
  const ofOne = changes.filter(({ tool_id: id }) => id === "small:tool_1");
  expect(ofOne.length).toBeGreaterThan(1);
  expect(ofOne.length).toBeLessThan(11);
});

test("pml down ends a gateway whose servers storm", async () => {
  expect(await runPml(["down"], { home: home.path })).toMatchObject({ code: 0 });
});
