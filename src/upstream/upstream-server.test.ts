import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { isRunning, until } from "../../test/support/pml.ts";
import { servers } from "../../test/support/upstream-servers.ts";
import { createLogger } from "../base/log.ts";
import type { Offer } from "./offers/offer.ts";
import { ProcessGroups } from "./connection/process-groups.ts";
import { UpstreamServer } from "./upstream-server.ts";

const log = createLogger({ level: "silent", file: undefined, secrets: [] });
const echo = { method: "tools/call", params: { name: "echo", arguments: { text: "hi" } } };

interface Opened {
  readonly server: UpstreamServer;
  readonly offers: Offer[];
}

async function open(flag: string | undefined, connectMs = 20_000): Promise<Opened> {
  const home = await makeFolder();
  const offers: Offer[] = [];
  const server = new UpstreamServer({
    name: "chaos",
    entry: servers.chaos("chaos", ...(flag === undefined ? [] : [flag])),
    limits: { connectMs, callMs: 5_000, longestCallMs: 10_000, inFlight: 4, queued: 4, messageBytes: 1024 * 1024 },
    groups: new ProcessGroups(home.path, log),
    log,
    onOffer: (offer) => void offers.push(offer),
    onNotification: () => undefined,
  });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });
  return { server, offers };
}

async function whileStarting(server: UpstreamServer): Promise<number> {
  await until("its process runs", () => server.status.pid !== undefined);
  return server.status.pid ?? 0;
}

test("UpstreamServer connects on the first request, once for all that come at the same time", async () => {
  const { server, offers } = await open(undefined);
  expect(server.status).toMatchObject({ state: "idle", inFlight: 0 });
  const results = await Promise.all([server.request(echo), server.request(echo)]);
  expect(results.map(({ content }) => content)).toEqual(
    Array.from({ length: 2 }, () => [{ type: "text", text: "chaos: hi" }]),
  );
  expect(server.status).toMatchObject({ state: "ready", protocol: "2025-11-25" });
  expect(offers).toHaveLength(1);
});

test("UpstreamServer frees a caller that gives up while the server starts", async () => {
  const { server } = await open("--hang-start");
  const abort = new AbortController();
  const call = server.request({ ...echo, signal: abort.signal });
  await whileStarting(server);
  abort.abort("enough");
  await expect(call).rejects.toMatchObject({ name: "AbortError" });
  // The start is still under way: the caller did not wait for its end.
  expect(server.status).toMatchObject({ state: "connecting", inFlight: 0, failures: 0 });
});

test("UpstreamServer, when disposed, does not wait for a start that hangs, and nothing is left of it", async () => {
  // The test would time out long before the start does.
  const { server } = await open("--hang-start", 600_000);
  const connecting = server.connect().catch((error: unknown) => String(error));
  const pid = await whileStarting(server);
  await server[Symbol.asyncDispose]();
  expect([isRunning(pid), server.status.state]).toEqual([false, "stopped"]);
  expect(await connecting).toContain("Server chaos is not available");
  await expect(server.connect()).rejects.toThrow("was removed from the configuration");
});

test("UpstreamServer ends a process that answers the handshake and not its lists", async () => {
  const { server, offers } = await open("--hang-list", 500);
  const connecting = server.connect().catch((error: unknown) => String(error));
  const pid = await whileStarting(server);
  expect(await connecting).toContain("Server chaos is not available: it did not answer within 0.5 s");
  expect([isRunning(pid), offers]).toEqual([false, []]);
});

test("UpstreamServer says what came instead of messages", async () => {
  const { server } = await open("--garbage", 700);
  await expect(server.connect()).rejects.toThrow(
    `it did not answer within 0.7 s; it wrote "<html></html>" to its output, which is no message`,
  );
});

test("UpstreamServer tries a server that cannot start again later and later, and tells callers at once", async () => {
  const { server } = await open("--never-start");
  const why = "Server chaos is not available: it exited with code 3; its last words: chaos: the licence has expired";
  await expect(server.connect()).rejects.toThrow(why);
  await until("it has failed thrice by itself", () => server.status.failures >= 4);
  const { failures } = server.status;
  await expect(server.request(echo)).rejects.toThrow(new RegExp(`${why}; next try in \\d+ s`));
  // No start was made for the request, which would have been one more failure.
  expect(server.status.failures).toBe(failures);
  expect(server.status).toMatchObject({ state: "backoff", lastError: "it exited with code 3" });
});
