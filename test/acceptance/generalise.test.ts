import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFolder } from "../support/databases.ts";
import { execute, type Executed } from "../support/execute.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

type Listed = readonly { readonly usage_count: number }[];

interface Details {
  readonly source: { readonly code?: string };
  readonly usage: { readonly count: number };
  readonly parameters: { readonly required?: readonly string[] };
}

/** One task with other values each time, as different agents write it: literal values, no name. */
const SPELLINGS = [
  (key: string) => `const { count } = await mcp.counting.add({ key: "${key}" });\nreturn count;`,
  (key: string) => `return (await mcp.counting.add({ key: '${key}' })).count;`,
  (key: string) =>
    `const input = { key: \`${key}\` };\nconst done = await mcp.counting.add(input);\nconsole.log(done);\nreturn done.count;`,
  (key: string) =>
    `const { counting } = mcp; const done = await counting["add"]({ "key": "${key}" }); return done["count"];`,
];

async function withClient<T>(at: string, work: (client: Client) => Promise<T>): Promise<T> {
  await using connected = await connectClient(at);
  return await work(connected.client);
}

describe("programs as agents write them", () => {
  const stack = new AsyncDisposableStack();
  let home: GatewayHome;
  let file: string;
  const runs: Executed[] = [];

  const config = { permissions: { allow: ["counting:*"] } };
  const details = (at: string): Promise<Details> =>
    runJson<Details>(["graph", runs[0]?.capabilityName ?? ""], { home: at });
  const calls = (): string[] => readFileSync(file, "utf8").split("\n").filter(Boolean);

  beforeAll(async () => {
    const folder = stack.use(await makeFolder());
    file = join(folder.path, "calls.txt");
    writeFileSync(file, "");
    home = stack.use(await startGateway({ counting: servers.counting(file) }, { config }));
    await home.ready("counting");
    await withClient(home.path, async (client) => {
      for (const [index, write] of SPELLINGS.entries())
        runs.push(await execute(client, { intent: `count box B-10${index}`, code: write(`B-10${index}`) }));
    });
  });

  afterAll(() => stack.disposeAsync());

  test("four spellings with four values are one capability with a required parameter", async () => {
    expect(runs.map(({ status }) => status)).toEqual(SPELLINGS.map(() => "success"));
    expect(new Set(runs.map(({ capabilityId }) => capabilityId)).size).toBe(1);
    expect(runs[0]?.parameters).toEqual([{ name: "key", type: "string", required: true }]);
    const records = await runJson<Listed>(["list"], { home: home.path });
    expect(records.map((each) => each.usage_count)).toEqual([SPELLINGS.length]);
    // Each program ran once and was replayed without reaching the server.
    expect(calls()).toEqual(SPELLINGS.map((_, index) => `add B-10${index}`));
  });

  test("it does its task for another value, after a restart", async () => {
    await runPml(["down"], { home: home.path });
    await runJson(["up"], { home: home.path });
    const found = await details(home.path);
    expect(found.source.code).toContain("args.key");
    expect(found.source.code).not.toContain("B-10");
    const before = calls().length;
    const again = await withClient(home.path, (client) =>
      execute(client, { capability: runs[0]?.capabilityName, args: { key: "B-999" } }),
    );
    expect(again).toMatchObject({ status: "success", result: before + 1 });
    expect(calls().at(-1)).toBe("add B-999");
  });

  test("without its value it is refused, and nothing happens", async () => {
    const before = calls();
    const refused = await withClient(home.path, (client) =>
      execute(client, { capability: runs[0]?.capabilityName, args: {} }),
    );
    expect(refused).toMatchObject({ status: "error", isError: true });
    expect(refused.error?.message).toContain("key");
    expect(calls()).toEqual(before);
  });

  test("another computation over the same calls stays apart", async () => {
    const other = await withClient(home.path, (client) =>
      execute(client, { code: `const { count } = await mcp.counting.add({ key: "B-7" });\nreturn count * 2;` }),
    );
    expect(other.status).toBe("success");
    expect(other.capabilityId).not.toBe(runs[0]?.capabilityId);
  });

  test("a gateway that imports it joins new runs to it", async () => {
    const path = join(home.path, "memory.pml");
    await runJson(["export", "-o", path], { home: home.path });
    await using other = await startGateway({ counting: servers.counting(file) }, { config });
    await other.ready("counting");
    await runJson(["import", path], { home: other.path });
    const [write] = SPELLINGS;
    const joined = await withClient(other.path, (client) => execute(client, { code: write?.("B-55") }));
    expect(joined).toMatchObject({ status: "success", capabilityId: runs[0]?.capabilityId });
    expect((await details(other.path)).parameters.required).toEqual(["key"]);
  });

  test("a program with a password is kept without it", async () => {
    const secret = `ghp_${"k9Q2".repeat(9)}`;
    const kept = await withClient(home.path, (client) =>
      execute(client, {
        code: `const password = "${secret}";\nconst { items } = await mcp.counting.list({ length: 2 });\nawait mcp.counting.put({ key: password });\nreturn items.length;`,
      }),
    );
    expect(kept).toMatchObject({ status: "success", result: 2, warnings: [] });
    const shown = await runPml(["code", kept.capabilityName], { home: home.path });
    expect(shown.stdout).toContain("args.");
    const exported = await runPml(["export"], { home: home.path });
    expect((shown.stdout + exported.stdout).includes(secret)).toBe(false);
  });
});
