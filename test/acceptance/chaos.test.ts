/** Faults of a server affect only its own callers. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { call, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { isRunning, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

test("a server that dies during a call: that call is answered at once, the next one works", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const before = await call(client, "chaos__pid");
  const crashed = await call(client, "chaos__exit_now");
  expect(crashed.isError).toBe(true);
  expect(crashed.text).toMatch(
    /Server chaos is not available: it exited with code 17; its last words: chaos: leaving as asked; .*outcome is not known/,
  );
  const after = await call(client, "chaos__pid");
  expect(after).toMatchObject({ isError: false });
  expect(after.text).not.toBe(before.text);
});

test("a server that dies while what it started holds its output is noticed all the same", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  await using connected = await connectClient(home.path);
  const { text: grandchild } = await call(connected.client, "chaos__spawn_child", { inherit: true });
  expect((await call(connected.client, "chaos__exit_now")).text).toMatch(/exited with code 17.*outcome is not known/);
  await until("the grandchild has ended", () => !isRunning(Number(grandchild)));
});

test("a hanging call harms no other call, ends by its time limit, and a cancelled one at once", async () => {
  await using home = await startGateway({
    limited: { ...servers.chaos("limited"), timeout: 1 },
    chaos: servers.chaos("chaos"),
  });
  await home.ready("limited", "chaos");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const { isError, text } = await call(client, "limited__hang");
  expect(isError).toBe(true);
  expect(text).toMatch(/Server limited did not answer tools\/call within 1 s.*cancelled; its outcome is not known/);
  await until("the server was told", async () => (await call(client, "limited__cancelled")).text === `["hang"]`);

  // Progress is a sign of life: 1.5 s in five steps are fine with a limit of 1 s.
  expect(await call(client, "limited__slow", { ms: 1_500 })).toEqual({ isError: false, text: "slow, but here" });

  const abort = new AbortController();
  const cancelled = call(client, "chaos__hang", {}, { signal: abort.signal }).catch((error: unknown) => String(error));
  await until("the call hangs", async () => (await home.server("chaos")).inFlight === 1);
  expect((await call(client, "chaos__echo", { text: "hi" })).text).toBe("chaos: hi");
  expect((await call(client, "limited__echo", { text: "hi" })).text).toBe("limited: hi");
  expect(await home.server("chaos")).toMatchObject({ inFlight: 1 });
  abort.abort("the user pressed Escape");
  await until("the server was told", async () => (await call(client, "chaos__cancelled")).text === `["hang"]`);
  expect(await cancelled).toContain("the user pressed Escape");
  expect(await home.server("chaos")).toMatchObject({ inFlight: 0, state: "ready" });
});

test("noise on a server's output is ignored, and eight megabytes pass complete and unchanged", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") }, { config: { results: { maxBytes: 0 } } });
  await home.ready("chaos");
  for (const transport of ["stdio", "http"] as const) {
    await using connected = await connectClient(home.path, { transport });
    const { client } = connected;
    expect(await call(client, "chaos__noise")).toEqual({ isError: false, text: "after the noise" });
    const { text } = await call(client, "chaos__big");
    const unit = "ab😀\u2028";
    expect(text.length).toBe(Math.ceil((8 * 1024 * 1024) / 9) * unit.length);
    expect(text.replaceAll(unit, "")).toBe("");
  }
  expect(await home.server("chaos")).toMatchObject({ state: "ready" });
});

test("a server's own error comes through, as a result and as a protocol error", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  expect(await call(client, "chaos__echo", { text: 7 })).toEqual({
    isError: true,
    text: `chaos: "text" must be a string`,
  });
  await expect(call(client, "chaos__strict", { number: 2 })).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining("chaos wants number 1"),
  });
});

test("every server killed in turn under load: only its own calls fail, with a reason, and it is back [mcp-27]", async () => {
  const names = ["one", "two", "three"];
  await using home = await startGateway(Object.fromEntries(names.map((name) => [name, servers.chaos(name)])));
  await home.ready(...names);
  await using connected = await connectClient(home.path);
  const { client } = connected;
  let victim = "";
  const failures: string[] = [];
  const sound = new Map<string, number>();
  const stop = new AbortController();
  const callers = Array.from({ length: 9 }, async (_, caller) => {
    const server = names[caller % names.length] ?? "";
    while (!stop.signal.aborted) {
      const { isError, text } = await call(client, `${server}__slow`, { ms: 20 });
      if (isError) failures.push(`${victim} ${server}: ${text}`);
      else sound.set(server, (sound.get(server) ?? 0) + 1);
    }
  });
  for (const name of names) {
    const before = new Map(sound);
    victim = name;
    process.kill(await home.pid(name), "SIGKILL");
    await until("it works again", async () => !(await call(client, `${name}__echo`, { text: "x" })).isError);
    const others = names.filter((each) => each !== name);
    await until("the others went on", () => others.every((each) => (sound.get(each) ?? 0) > (before.get(each) ?? 0)));
  }
  stop.abort();
  await Promise.all(callers);
  for (const line of failures) expect(line).toMatch(/^(\w+) \1: Server \1 is not available: it was ended by SIGKILL/);
});

test("a client goes on when the daemon is killed: a call under way fails and says so, the next one works", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const before = await call(client, "chaos__pid");
  const hanging = call(client, "chaos__hang").catch((error: unknown) => String(error));
  await until("the call is under way", async () => (await home.server("chaos")).inFlight === 1);
  process.kill(home.daemonPid, "SIGKILL");
  expect(await hanging).toMatch(/The PML daemon ended during this call. Whether tools\/call took effect is not known/);
  const after = await call(client, "chaos__pid");
  expect(after).toMatchObject({ isError: false });
  expect(after.text).not.toBe(before.text);
  expect(readDaemonAddress(home.path)?.pid).not.toBe(home.daemonPid);
});

test("a server that grows a tool: the list changes and each client is told once", async () => {
  await using home = await startGateway({ chaos: servers.chaos("chaos") });
  await home.ready("chaos");
  await using stdio = await connectClient(home.path);
  await using http = await connectClient(home.path, { transport: "http" });
  expect(await call(stdio.client, "chaos__grow")).toMatchObject({ text: "grown-1" });
  await until("both were told", () => stdio.toolChanges.count > 0 && http.toolChanges.count > 0);
  await sleep(800);
  expect([stdio.toolChanges.count, http.toolChanges.count]).toEqual([1, 1]);
  const { tools } = await stdio.client.listTools();
  expect(tools.map(({ name }) => name)).toContain("chaos__grown_1");
  expect((await call(http.client, "chaos__grown_1")).text).toBe("chaos/grown-1");
});
