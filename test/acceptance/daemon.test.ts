import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DaemonAddress } from "../../src/daemon/daemon-file.ts";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { makeFolder } from "../support/databases.ts";
import { connectClient } from "../support/mcp-client.ts";
import { isRunning, runJson, runPml, spawnPml, until } from "../support/pml.ts";
import type { DaemonStatus } from "../../src/contract/status.ts";

async function upIn(home: string): Promise<DaemonAddress> {
  await runJson(["up"], { home });
  const address = readDaemonAddress(home);
  if (address === undefined) throw new Error("no daemon.json after pml up");
  return address;
}

/** Sends headers by hand, since fetch sets Host itself. */
function statusOf(address: DaemonAddress, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, address.url), { headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once("error", reject);
    sent.end();
  });
}

test("pml serve answers /readyz on the embedded database and ends cleanly on each signal", async () => {
  await using home = await makeFolder();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    const child = spawnPml(["serve"], { home: home.path });
    const closed = once(child, "close");
    await until("daemon.json is there", () => readDaemonAddress(home.path) !== undefined);
    const { url } = readDaemonAddress(home.path) ?? { url: "" };
    const ready = await fetch(new URL("/readyz", url));
    expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
    child.kill(signal);
    const [code] = await closed;
    expect(code, signal).toBe(0);
    expect(readDaemonAddress(home.path)).toBeUndefined();
  }
});

test("up, status and down tell what is running and leave nothing behind", async () => {
  await using home = await makeFolder();
  const options = { home: home.path };
  expect(await runPml(["status"], options)).toMatchObject({
    code: 7,
    stdout: `PML is not running (PML_HOME ${home.path})\n`,
  });
  const started = await runJson<{ pid: number; started: boolean }>(["up"], options);
  expect(started.started).toBe(true);
  expect(await runJson(["up"], options)).toMatchObject({ pid: started.pid, started: false });
  expect(await runJson<DaemonStatus>(["status"], options)).toMatchObject({
    running: true,
    pid: started.pid,
    clients: 0,
  });
  expect((await runPml(["down"], options)).stdout).toBe(`PML stopped (pid ${started.pid})\n`);
  await until("its process is gone", () => !isRunning(started.pid));
  expect((await runPml(["down"], options)).stdout).toBe("PML was not running\n");
});

test("ten clients started at once end with one daemon and ten working connections", async () => {
  await using home = await makeFolder();
  const clients = await Promise.all(Array.from({ length: 10 }, () => connectClient(home.path)));
  const lists = await Promise.all(clients.map(({ client }) => client.listTools()));
  expect(lists.map(({ tools }) => tools[0]?.name)).toEqual(Array.from({ length: 10 }, () => "pml_execute"));
  expect(await runJson<DaemonStatus>(["status"], { home: home.path })).toMatchObject({ clients: 10 });
  const log = readFileSync(join(home.path, "daemon.log"), "utf8");
  expect(log.match(/"msg":"ready"/g)).toHaveLength(1);
  for (const client of clients) await client[Symbol.asyncDispose]();
  await runPml(["down"], { home: home.path });
});

test("a client goes on with the next daemon when the first is killed", async () => {
  await using home = await makeFolder();
  await using first = await connectClient(home.path);
  await using second = await connectClient(home.path);
  const killed = readDaemonAddress(home.path)?.pid ?? 0;
  process.kill(killed, "SIGKILL");
  await Promise.all([first.client.listTools(), second.client.ping(), first.client.ping()]);
  const next = await runJson<DaemonStatus>(["status"], { home: home.path });
  expect(next.pid).not.toBe(killed);
  expect(next.clients).toBe(2);
  await runPml(["down"], { home: home.path });
});

test("after pml down a waiting client starts the daemon with its next request", async () => {
  await using home = await makeFolder();
  await using connected = await connectClient(home.path);
  await runPml(["down"], { home: home.path });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(readDaemonAddress(home.path)).toBeUndefined();
  expect((await connected.client.listTools()).tools).not.toEqual([]);
  await runPml(["down"], { home: home.path });
});

test("a shim ends with its client, however that ends, and the daemon stays", async () => {
  await using home = await makeFolder();
  const { pid } = await upIn(home.path);
  const closed = spawnPml(["mcp"], { home: home.path });
  closed.stdin?.end();
  expect((await once(closed, "close"))[0]).toBe(0);
  const killed = spawnPml(["mcp"], { home: home.path });
  const ended = once(killed, "close");
  await until(
    "it is connected",
    async () => (await runJson<DaemonStatus>(["status"], { home: home.path })).clients === 1,
  );
  killed.kill("SIGTERM");
  expect((await ended)[0]).toBe(0);
  expect(isRunning(pid)).toBe(true);
  await runPml(["down"], { home: home.path });
});

test("requests written at once and followed by the end of input are still answered", async () => {
  await using home = await makeFolder();
  const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "1" } };
  const input = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
  ];
  const { stdout } = await runPml(["mcp"], {
    home: home.path,
    input: input.map((line) => `${JSON.stringify(line)}\n`).join(""),
  });
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: number; result: unknown });
  expect(answers.find(({ id }) => id === 2)?.result).toMatchObject({ tools: expect.any(Array) });
  await runPml(["down"], { home: home.path });
});

test("a daemon that cannot start is reported to the client as an answer, and on stderr", async () => {
  await using home = await makeFolder();
  const env = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
  const line = JSON.stringify({ jsonrpc: "2.0", id: 9, method: "ping" });
  const { code, stdout, stderr } = await runPml(["mcp"], { home: home.path, env, input: `${line}\n` });
  expect(code).toBe(7);
  expect(JSON.parse(stdout)).toMatchObject({ id: 9, error: { message: /does not answer.*PML-E2007/ } });
  expect(stderr).toContain("PML-E2007");
});

test("only requests with our Host, our Origin and the token get in", async () => {
  await using home = await makeFolder();
  const address = await upIn(home.path);
  const host = new URL(address.url).host;
  const authorization = `Bearer ${address.token}`;
  expect(await statusOf(address, "/metrics", { host, authorization })).toBe(200);
  expect(await statusOf(address, "/metrics", { host })).toBe(401);
  expect(await statusOf(address, "/metrics", { host, authorization: "Bearer guess" })).toBe(401);
  expect(await statusOf(address, "/metrics", { host: "evil.example", authorization })).toBe(403);
  expect(await statusOf(address, "/metrics", { host, authorization, origin: "https://evil.example" })).toBe(403);
  expect(await statusOf(address, "/healthz", { host })).toBe(200);
  expect(await statusOf(address, "/healthz", { host: "evil.example" })).toBe(403);
  expect(await statusOf(address, "/nothing", { host, authorization })).toBe(404);
  await runPml(["down"], { home: home.path });
});

test("/metrics is Prometheus text with the gateway's own figures", async () => {
  await using home = await makeFolder();
  await using _client = await connectClient(home.path);
  const address = readDaemonAddress(home.path);
  const response = await fetch(new URL("/metrics", address?.url), {
    headers: { authorization: `Bearer ${address?.token}` },
  });
  const text = await response.text();
  expect(response.headers.get("content-type")).toContain("text/plain");
  expect(text).toMatch(/^pml_stdio_connections 1$/m);
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
  await runPml(["down"], { home: home.path });
});

test("a default port that is taken gives way to the next one", async () => {
  await using one = await makeFolder();
  await using two = await makeFolder();
  const env = { PML_PORT: "" };
  const first = await runJson<DaemonStatus>(["up"], { home: one.path, env });
  const second = await runJson<DaemonStatus>(["up"], { home: two.path, env });
  expect(Number(new URL(first.url).port)).toBeGreaterThanOrEqual(7650);
  expect(Number(new URL(second.url).port)).toBeGreaterThan(Number(new URL(first.url).port));
  expect(readFileSync(join(two.path, "daemon.log"), "utf8")).toContain("port is taken, trying the next one");
  for (const { path } of [one, two]) await runPml(["down"], { home: path });
});

test("a chosen port that is taken is an error that names its owner", async () => {
  await using home = await makeFolder();
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const { port } = blocker.address() as AddressInfo;
  const { code, stderr } = await runPml(["serve", "--port", String(port)], { home: home.path });
  expect(code).toBe(1);
  expect(stderr).toContain(`Port ${port} is taken by`);
  expect(stderr).toContain(`pid ${process.pid}`);
  expect(stderr).toContain("pml serve --port 0");
  blocker.close();
});

test("a daemon that nobody uses ends by itself", async () => {
  await using home = await makeFolder();
  writeFileSync(join(home.path, "c.json"), `{ "daemon": { "idleMinutes": 0.01 } }`);
  const idle = spawnPml(["serve", "--exit-when-idle", "--config", join(home.path, "c.json")], { home: home.path });
  expect((await once(idle, "close"))[0]).toBe(0);
});
