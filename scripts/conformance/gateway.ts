import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { spawnPml, until } from "../../test/support/pml.ts";
import { writeConfig } from "../../test/support/upstream-servers.ts";

export interface RunningGateway extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
}

const END_MS = 10_000;

/** Starts `pml serve` in a home of its own, with one server, listed under its own names. */
export async function startGateway(server: McpServerEntry): Promise<RunningGateway> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), "pml-conformance-"));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  writeConfig(home, { mcpServers: { fixture: { ...server, pml: { ...server.pml, prefix: "" } } } });
  const daemon = spawnPml(["serve"], { home });
  const ended = once(daemon, "close");
  stack.defer(async () => {
    daemon.kill("SIGTERM");
    const impatient = setTimeout(() => daemon.kill("SIGKILL"), END_MS);
    await ended;
    clearTimeout(impatient);
  });
  let output = "";
  for (const stream of [daemon.stdout, daemon.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  await until("the fixture is ready", async () => {
    if (daemon.exitCode !== null) throw new Error(`pml serve exited with ${daemon.exitCode}: ${output}`);
    return isReady(home);
  });
  const address = readDaemonAddress(home);
  if (address === undefined) throw new Error(`pml serve has no address: ${output}`);
  const running = stack.move();
  return { ...address, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function isReady(home: string): Promise<boolean> {
  const address = readDaemonAddress(home);
  if (address === undefined) return false;
  const response = await fetch(new URL("/api/v1/servers", address.url), {
    headers: { Authorization: `Bearer ${address.token}` },
  });
  const { data } = (await response.json()) as { data: readonly { readonly name: string; readonly state: string }[] };
  return data.some(({ name, state }) => name === "fixture" && state === "ready");
}
