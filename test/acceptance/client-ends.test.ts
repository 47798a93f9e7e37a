/** A client leaves nothing behind, however it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { makeFolder } from "../support/folder.ts";
import { call, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { isRunning, PML, runJson, spawnPml, testEnvironment, until } from "../support/pml.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";

/** A shim that has answered, so that it is connected to the daemon. */
async function startShim(home: string): Promise<ChildProcess> {
  const shim = spawnPml(["mcp"], { home });
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  shim.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  if (shim.stdout !== null) await once(shim.stdout, "data");
  return shim;
}

test("the end of its input, SIGTERM, and the death of the client: no shim is left after three seconds [mcp-30]", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  const ended = await startShim(home.path);
  ended.stdin?.end();
  const terminated = await startShim(home.path);
  terminated.kill("SIGTERM");
  // A killed client: its pipes close without a message to the shim.
  const script = `const { spawn } = require("node:child_process");
    const shim = spawn(process.execPath, [${JSON.stringify(PML)}, "mcp"], { stdio: ["pipe", "pipe", "inherit"] });
    shim.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\\n');
    shim.stdout.once("data", () => console.log(shim.pid));`;
  const client = spawn(process.execPath, ["-e", script], {
    env: testEnvironment({ home: home.path }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [pid] = (await once(client.stdout.setEncoding("utf8"), "data")) as [string];
  client.kill("SIGKILL");
  const shims = [ended.pid ?? 0, terminated.pid ?? 0, Number(pid)];
  await until("no shim is left", () => shims.filter(isRunning).length === 0, 3_000);
  const status = async (): Promise<number> =>
    (await runJson<{ clients: number }>(["status"], { home: home.path })).clients;
  await until("the daemon has noticed", async () => (await status()) === 0);
  expect(isRunning(home.daemonPid)).toBe(true);
});

test("when the last client is gone, the daemon that was started for it and its servers go too [mcp-30]", async () => {
  await using folder = await makeFolder();
  const home = folder.path;
  const mcpServers = { chaos: servers.chaos("chaos"), stubborn: servers.chaos("stubborn", "--stubborn") };
  writeConfig(home, { daemon: { idleMinutes: 0.03 }, mcpServers });
  let pids: number[] = [];
  {
    await using connected = await connectClient(home);
    const rows = async (): Promise<{ state: string; pid?: number }[]> => runJson(["servers"], { home });
    await until("the servers are ready", async () => (await rows()).every(({ state }) => state === "ready"));
    expect((await call(connected.client, "chaos__echo", { text: "x" })).isError).toBe(false);
    pids = [readDaemonAddress(home)?.pid ?? 0, ...(await rows()).map(({ pid }) => pid ?? 0)];
    expect(pids.filter(isRunning)).toHaveLength(3);
  }
  await until("nothing is left", () => pids.filter(isRunning).length === 0);
});
