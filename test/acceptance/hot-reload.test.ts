import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { isRunning, until } from "../support/pml.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";

test("changed servers are taken over while the daemon runs; the others keep their processes and calls [mcp-29]", async () => {
  const kept = servers.chaos("kept");
  await using home = await startGateway({ kept, edited: servers.chaos("before"), removed: servers.chaos("removed") });
  await home.ready("kept", "edited", "removed");
  const pids = { kept: await home.pid("kept"), edited: await home.pid("edited"), removed: await home.pid("removed") };
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const underWay = call(client, "kept__slow", { ms: 4_000 });
  const cutOff = call(client, "removed__hang");

  const edited = servers.chaos("after");
  const off = { ...servers.chaos("off"), disabled: true };
  writeConfig(home.path, { mcpServers: { kept, edited, added: servers.chaos("added"), off } });
  expect(await cutOff).toMatchObject({ isError: true, text: expect.stringContaining("outcome is not known") });
  await home.ready("kept", "edited", "added");
  expect((await home.servers()).map(({ name, state }) => `${name} ${state}`)).toEqual([
    "added ready",
    "edited ready",
    "kept ready",
    "off disabled",
  ]);
  expect(await home.pid("kept")).toBe(pids.kept);
  expect([isRunning(pids.edited), isRunning(pids.removed)]).toEqual([false, false]);
  expect((await call(client, "edited__echo", { text: "x" })).text).toBe("after: x");
  expect((await call(client, "added__echo", { text: "x" })).text).toBe("added: x");
  await expect(call(client, "removed__echo", { text: "x" })).rejects.toThrow(/Unknown tool: removed__echo/);
  expect(await underWay).toEqual({ isError: false, text: "slow, but here" });
  await until("the client was told", () => connected.toolChanges.count > 0);
});

test("a file that cannot be used is logged, changes no server and permits nothing; the next good one counts", async () => {
  const chaos = servers.chaos("chaos");
  await using home = await startGateway({ chaos });
  await home.ready("chaos");
  const pid = await home.pid("chaos");
  const log = (): string => readFileSync(join(home.path, "daemon.log"), "utf8");
  await using connected = await connectClient(home.path);
  const echo = (): ReturnType<typeof call> => call(connected.client, "chaos__echo", { text: "x" });
  expect(await echo()).toEqual({ isError: false, text: "chaos: x" });
  writeFileSync(join(home.path, "pml.json"), `{ "mcpServers": { "chaos": `);
  await until("the broken file was noticed", () =>
    /pml\.json:1:\d+ is not valid JSON.*nothing was changed/.test(log()),
  );
  writeConfig(home.path, { mcpServers: { chaos: { ...chaos, comand: "typo" } } });
  await until("the wrong key was noticed", () => /is not a known key.*nothing was changed/.test(log()));
  expect(await home.server("chaos")).toMatchObject({ state: "ready", pid });
  expect(await echo()).toMatchObject({ isError: true, text: expect.stringContaining("is not a known key") });
  writeConfig(home.path, { daemon: { idleMinutes: 5 }, mcpServers: { chaos, added: servers.chaos("added") } });
  await home.ready("added");
  expect(log()).toMatch(/"settings":\["daemon"\].*take effect after a restart/);
  expect(await home.pid("chaos")).toBe(pid);
  expect(await echo()).toEqual({ isError: false, text: "chaos: x" });
});

test("how PML treats a server changes without its tools being missing for a moment", async () => {
  const chaos = servers.chaos("chaos");
  await using home = await startGateway({ chaos });
  await home.ready("chaos");
  const pid = await home.pid("chaos");
  await using connected = await connectClient(home.path);
  writeConfig(home.path, { mcpServers: { chaos: { ...chaos, pml: { maxResultBytes: 5_000 } } } });
  await until("the server was replaced", async () => {
    // an unknown tool would be a protocol error and end the loop
    await call(connected.client, "chaos__echo", { text: "x" });
    return (await home.server("chaos")).state === "ready" && (await home.pid("chaos")) !== pid;
  });
  expect((await call(connected.client, "chaos__echo", { text: "x" })).text).toBe("chaos: x");
});
