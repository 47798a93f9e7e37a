/** Names that PML proposes by itself: what they are made of, who is told of them, and what is kept of each rename. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { curate } from "../support/curation.ts";
import { makeFolder } from "../support/databases.ts";
import { execute, type Executed } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callJson } from "../support/names-scene.ts";
import { runJson, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

/** Tools whose names only a pattern with a wildcard fits, and the namespace each speaks for. */
const NAMESPACES = {
  "box:poke_file": "fs",
  "box:git_poke": "git",
  "box:poke_sql": "db",
  "box:run_poke_command": "shell",
  "box:generate_text": "ai",
  "box:http_poke": "api",
  "box:convert_poke": "transform",
  "box:poke": "util",
  "bash:poke": "shell",
} as const;
const TOOLS = Object.keys(NAMESPACES);

const stack = new AsyncDisposableStack();
const learned = new Map<string, Executed>();
let home: GatewayHome;
let client: Client;

function scripted(folder: string, server: string): string {
  const names = TOOLS.filter((tool) => tool.startsWith(`${server}:`)).map((tool) => tool.split(":")[1] ?? "");
  const tools = names.map((name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }));
  const results = Object.fromEntries(names.map((name) => [name, { content: [{ type: "text", text: "done" }] }]));
  const file = join(folder, `${server}.json`);
  writeFileSync(file, JSON.stringify({ tools, results }));
  return file;
}

async function learn(key: string, intent: string, code: string): Promise<Executed> {
  const executed = await execute(client, { intent, code, args: { path: "p" } });
  expect([key, executed.status]).toEqual([key, "success"]);
  learned.set(key, executed);
  return executed;
}

const call = (tool: string): string => `await mcp.${tool.replace(":", ".")}({})`;
const idOf = (key: string): string => learned.get(key)?.capabilityId ?? "";

beforeAll(async () => {
  const { path } = stack.use(await makeFolder());
  const curation = { afterUnnamed: TOOLS.length, sampling: true };
  const entries = { box: servers.scripted(scripted(path, "box")), bash: servers.scripted(scripted(path, "bash")) };
  home = stack.use(await startGateway(entries, { config: { curation } }));
  await home.ready("box", "bash");
  ({ client } = stack.use(await connectClient(home.path, { transport: "http", era: "auto" })));
  for (const tool of TOOLS) await learn(tool, `poke number ${TOOLS.indexOf(tool)}`, `return ${call(tool)};`);
});

afterAll(() => stack.disposeAsync());

test("[TS-G2] much used unnamed capabilities come with a warning, are counted, and have proposals in the inbox that nobody asked for", async () => {
  const capability = learned.get("box:poke")?.capabilityName;
  const warned: string[] = [];
  for (let uses = 2; uses <= 12; uses += 1) {
    const { warnings } = await execute(client, { capability });
    warned.push(...warnings);
  }
  expect(warned).toEqual([5, 10].map((uses) => expect.stringContaining(`was used ${uses} times and has no name`)));
  const stats = await runJson<{ capabilities: { unnamed: number } }>(["stats"], { home: home.path });
  expect(stats.capabilities.unnamed).toBe(TOOLS.length);
  const proposed = async (): Promise<string[]> => {
    const items = await runJson<{ kind: string; currentName?: string }[]>(["inbox"], { home: home.path });
    return items.flatMap(({ kind, currentName }) => (kind === "naming" ? [currentName ?? ""] : []));
  };
  await until("every unnamed capability has a proposal", async () => (await proposed()).length === TOOLS.length);
  expect(await proposed()).toContain(capability);
});

test("[TS-C2] rules with wildcards give each set of tools its namespace, and util where none fits", async () => {
  const { suggestions } = await curate(client);
  const namespaces = TOOLS.map((tool) => {
    const found = suggestions.find(({ id }) => id === idOf(tool));
    return [tool, found?.suggestedName.split(":")[0]];
  });
  expect(Object.fromEntries(namespaces)).toEqual(NAMESPACES);
});

test("[TS-C1] capabilities that use the same tools are named together", async () => {
  await learn(
    "second",
    "poke the first file again",
    `const done = ${call("box:poke_file")}; return String(done).length;`,
  );
  const order = (await curate(client)).suggestions.map(({ id }) => id);
  const places = ["box:poke_file", "second"].map((key) => order.indexOf(idOf(key)));
  expect(places).not.toContain(-1);
  expect(Math.abs((places[0] ?? 0) - (places[1] ?? 0))).toBe(1);
});

test("[TS-C3] a language model is told tools, intent and the first 200 characters of the code, without anybody's values", async () => {
  const code = `const beginsHere = ["private words", 4711]; const ${"filler".repeat(30)} = 1;
    const endsHere = ${call("box:poke_file")}; return [beginsHere.length, endsHere];`;
  await learn("told", "poke a file for the model", code);
  const asked: string[] = [];
  const model = (text: string): string => {
    asked.push(text);
    return "[]";
  };
  await using lending = await connectClient(home.path, { transport: "http", era: "auto", model });
  await curate(lending.client);
  const programs = asked.flatMap(
    (text) => JSON.parse((JSON.parse(text) as { text: string }).text) as Record<string, unknown>[],
  );
  const told = programs.find(({ intent }) => intent === "poke a file for the model");
  expect(told).toMatchObject({
    tools: ["box:poke_file"],
    code: expect.stringMatching(/^const beginsHere = \["…", 0\]/),
  });
  expect(String(told?.["code"])).toHaveLength(200);
  expect(asked.join()).not.toMatch(/private words|4711|endsHere/);
});

test("[TS-H1] the history of renames says from what, to what, when, and whether by itself, a person or an agent", async () => {
  const options = { home: home.path };
  await runJson(["curate", "--auto", "--min-confidence", "0.1"], options);
  const first = await callJson<{ display_name: string }>(client, "dns:whois", { fqdn: idOf("box:poke_sql") });
  const { display_name: proposed } = first.value;
  await runJson(["rename", proposed, "db:by_person"], options);
  await callJson(client, "dns:rename", { name: "db:by_person", newName: "db:by_agent" });
  const rows = (await exportedRows(home.path, "capability_rename_history")).filter(
    (row) => row["record_id"] === idOf("box:poke_sql"),
  );
  const times = rows.map((row) => String(row["renamed_at"]));
  expect(times.map((time) => Number.isNaN(Date.parse(time)))).toEqual([false, false, false]);
  expect(rows.toSorted((a, b) => String(a["renamed_at"]).localeCompare(String(b["renamed_at"])))).toMatchObject([
    { old_name: learned.get("box:poke_sql")?.capabilityName, new_name: proposed, renamed_via: "auto" },
    { old_name: proposed, new_name: "db:by_person", renamed_via: "user" },
    { old_name: "db:by_person", new_name: "db:by_agent", renamed_via: "agent" },
  ]);
});
