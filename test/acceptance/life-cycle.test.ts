/** Life cycle of many servers: some never come up, and no process is left afterwards. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { makeFolder } from "../support/databases.ts";
import { call, type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient, openRunning } from "../support/mcp-client.ts";
import { isRunning, runJson, runPml, until } from "../support/pml.ts";
import { servers, unlessMarked } from "../support/upstream-servers.ts";

const SOUND = Array.from({ length: 17 }, (_, index) => `sound-${index + 1}`);

/** Returns the first list of a client that knows the daemon's address. */
async function firstList(home: string): Promise<string[]> {
  const client = new Client({ name: "first", version: "1.0.0" });
  await client.connect(openRunning(home));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

test("21 servers, four of which never start: lists come at once, the others work, the four say what is wrong [mcp-26] [mcp-27]", async () => {
  const entries: Record<string, McpServerEntry> = {
    ...Object.fromEntries(SOUND.map((name) => [name, servers.chaos(name)])),
    exits: servers.chaos("exits", "--never-start"),
    hangs: servers.chaos("hangs", "--hang-start"),
    garbage: servers.chaos("garbage", "--garbage"),
    missing: { command: "/no/such/program" },
  };
  await using home = await startGateway(entries, { config: { upstream: { connectSeconds: 8 } } });
  await firstList(home.path);
  expect(await home.server("hangs")).toMatchObject({ failures: 0 }); // the list did not wait for it
  await home.ready(...SOUND);
  await using connected = await connectClient(home.path);
  for (const name of SOUND) {
    const wire = name.replace("-", "_");
    expect((await call(connected.client, `${wire}__echo`, { text: "x" })).text).toBe(`${name}: x`);
  }
  const givenUp = async (): Promise<boolean> => ((await home.server("hangs")).failures ?? 0) > 0;
  await until("the silent one was given up", givenUp, 20_000);
  await until("between two tries of the first", async () => (await home.server("exits")).state === "backoff");
  expect(await home.server("exits")).toMatchObject({
    lastError: "it exited with code 3",
    stderr: ["chaos: a first line", "chaos: the licence has expired"],
  });
  expect(await home.server("hangs")).toMatchObject({
    lastError: "it did not answer within 8 s",
    stderr: ["chaos: waiting for a database"],
  });
  await until("the other one too", async () => (await home.server("garbage")).state === "backoff", 20_000);
  expect(await home.server("garbage")).toMatchObject({
    lastError: `it did not answer within 8 s; it wrote "<html></html>" to its output, which is no message`,
  });
  expect(await home.server("missing")).toMatchObject({
    lastError: expect.stringMatching(/"\/no\/such\/program" cannot be started \(.*ENOENT\)/),
  });
  const complete = await firstList(home.path);

  await runPml(["down"], { home: home.path });
  await runJson(["up"], { home: home.path });
  expect(await firstList(home.path)).toEqual(complete);
  expect(await home.server("hangs")).toMatchObject({ failures: 0 });
}, 180_000);

test("a server that could not start is there again once it can, without a restart of anything", async () => {
  await using folder = await makeFolder();
  const marker = join(folder.path, "broken");
  const { command = "", args = [] } = servers.chaos("chaos");
  writeFileSync(marker, "");
  await using home = await startGateway({ chaos: unlessMarked({ command, args }, marker) });
  await until("it was tried thrice", async () => ((await home.server("chaos")).failures ?? 0) >= 3);
  expect(await home.server("chaos")).toMatchObject({ state: "backoff", lastError: "it exited with code 3" });
  rmSync(marker);
  await home.ready("chaos");
  await using connected = await connectClient(home.path);
  expect((await call(connected.client, "chaos__echo", { text: "x" })).text).toBe("chaos: x");
  expect(await home.server("chaos")).toMatchObject({ failures: 0 });
});

/** A server whose child holds its output, one that ignores termination, and one that hangs at start. */
async function startFamily(): Promise<{ home: GatewayHome; pids: number[] }> {
  const entries = {
    parent: servers.chaos("parent"),
    stubborn: servers.chaos("stubborn", "--stubborn"),
    hangs: servers.chaos("hangs", "--hang-start", "--stubborn"),
  };
  // A test that waits for the hanging start exceeds its own time limit.
  const home = await startGateway(entries, { config: { upstream: { connectSeconds: 600 } } });
  await home.ready("parent", "stubborn");
  await using connected = await connectClient(home.path, { transport: "http" });
  const { text } = await call(connected.client, "parent__spawn_child", { inherit: true });
  const rows = await home.servers();
  const pids = [Number(text), ...rows.map(({ pid }) => pid ?? 0)];
  expect(pids.filter(isRunning)).toHaveLength(4);
  return { home, pids };
}

test("pml down leaves no process behind, however stubborn, and does not wait for one that hangs", async () => {
  const { home, pids } = await startFamily();
  await using _home = home;
  await runPml(["down"], { home: home.path });
  expect(pids.filter(isRunning)).toEqual([]);
});

test("what outlives a killed daemon is ended by the next one, and nothing else is", async () => {
  const { home, pids } = await startFamily();
  await using _home = home;
  const [grandchild = 0, ...upstreams] = pids;
  const parent = await home.pid("parent");
  process.kill(home.daemonPid, "SIGKILL");
  await until("the server that saw its input end is gone", () => !isRunning(parent));
  expect([isRunning(grandchild), upstreams.filter(isRunning).length]).toEqual([true, 2]);
  await runJson(["up"], { home: home.path });
  await until("what was left over is gone", () => pids.filter(isRunning).length === 0);
  await home.ready("parent", "stubborn");
  const fresh = await home.pid("parent");
  await sleep(500);
  expect(isRunning(fresh)).toBe(true);
});

test("the gateway's own environment does not reach a server, what is configured does [mcp-39]", async () => {
  const chaos = { ...servers.chaos("chaos"), env: { GIVEN: "yes", TOKEN_FOR_IT: "${UPSTREAM_TOKEN}" } };
  await using home = await startGateway({ chaos }, { env: { SECRET: "hush", UPSTREAM_TOKEN: "t0ken" } });
  await home.ready("chaos");
  await using connected = await connectClient(home.path);
  const { text } = await call(connected.client, "chaos__env");
  const env = JSON.parse(text) as Record<string, string>;
  expect(env).toMatchObject({ GIVEN: "yes", TOKEN_FOR_IT: "t0ken" });
  expect(text).not.toContain("hush");
  expect(Object.keys(env).filter((name) => /^(PML_|SECRET|UPSTREAM_TOKEN|DATABASE_URL)/.test(name))).toEqual([]);
});

test("a server that fails again and again is tried later each time, then only when asked, and is back when it works [mcp-28]", async () => {
  await using folder = await makeFolder();
  const marker = join(folder.path, "broken");
  const { command = "", args = [] } = servers.chaos("flaky");
  await using home = await startGateway({
    sound: servers.chaos("sound"),
    flaky: unlessMarked({ command, args }, marker),
  });
  await home.ready("sound", "flaky");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  writeFileSync(marker, "");
  process.kill(await home.pid("flaky"), "SIGKILL");
  const moments: number[] = [];
  for (const count of [3, 4, 5, 6]) {
    await until(`it failed ${count} times`, async () => ((await home.server("flaky")).failures ?? 0) >= count, 20_000);
    moments.push(performance.now());
  }
  const [first = 0, second = 0, third = 0] = moments.slice(1).map((moment, index) => moment - (moments[index] ?? 0));
  // The back-off doubles each time, with a quarter of jitter.
  expect([first < second, second < third]).toEqual([true, true]);
  expect(await call(client, "sound__echo", { text: "x" })).toEqual({ isError: false, text: "sound: x" });
  expect(await call(client, "flaky__echo", { text: "x" })).toEqual({
    isError: true,
    text: expect.stringMatching(/^Server flaky is not available: it exited with code 3.*next try in \d+ s$/),
  });
  rmSync(marker);
  await until("it works again", async () => !(await call(client, "flaky__echo", { text: "x" })).isError, 30_000);
}, 120_000);
