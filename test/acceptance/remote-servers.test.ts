/** Remote servers that come and go without notice. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { call, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function startRemote(
  port: number,
  transport: "streamableHttp" | "sse" = "streamableHttp",
): Promise<ChildProcess> {
  const { command, args } = servers.everything;
  const child = spawn(command, [...args, transport], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: "ignore",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}/mcp`;
  await until("the remote server listens", () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return child;
}

async function stopRemote(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

test("a remote server that was restarted works again, though it does not know its session any more", async () => {
  const port = await freePort();
  const first = await startRemote(port);
  await using home = await startGateway({ remote: { url: `http://127.0.0.1:${port}/mcp` } });
  await home.ready("remote");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const echo = () => call(client, "remote__echo", { message: "hi" });
  expect(await echo()).toEqual({ isError: false, text: "Echo: hi" });

  await stopRemote(first);
  const second = await startRemote(port);
  // A few attempts may have failed meanwhile, so the back-off is at most a few seconds.
  await until("it works again", async () => !(await echo()).isError);

  await stopRemote(second);
  expect(await echo()).toMatchObject({ isError: true, text: expect.stringMatching(/^Server remote is not available/) });
  await startRemote(port);
  await until("it works once more", async () => !(await echo()).isError);
  expect(await home.server("remote")).toMatchObject({ state: "ready" });
});

test("a remote server that dies during a call: the call does not wait for its time limit and says so", async () => {
  const port = await freePort();
  const remote = await startRemote(port);
  await using home = await startGateway({ remote: { url: `http://127.0.0.1:${port}/mcp` } });
  await home.ready("remote");
  await using connected = await connectClient(home.path);
  const slow = call(connected.client, "remote__trigger_long_running_operation", { duration: 30, steps: 3 });
  await until("the call is under way", async () => (await home.server("remote")).inFlight === 1);
  await stopRemote(remote);
  const { isError, text } = await slow;
  expect([isError, text]).toEqual([true, expect.stringContaining("outcome is not known")]);
  expect(text).not.toContain("did not answer"); // as the time limit of the call would say
});

test("a remote server of before Streamable HTTP is found without being told so", async () => {
  const port = await freePort();
  const first = await startRemote(port, "sse");
  await using home = await startGateway({ remote: { url: `http://127.0.0.1:${port}/sse` } });
  await home.ready("remote");
  await using connected = await connectClient(home.path);
  const echo = () => call(connected.client, "remote__echo", { message: "hi" });
  expect(await echo()).toEqual({ isError: false, text: "Echo: hi" });
  await stopRemote(first);
  await startRemote(port, "sse");
  await until("it works again", async () => !(await echo()).isError);
});
