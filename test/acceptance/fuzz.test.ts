/** Sends ten thousand malformed messages and requests. PML_FUZZ_SEED repeats a run. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type DaemonAddress, readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { type Era, fuzzMessage } from "../support/fuzz-messages.ts";
import { type FuzzRequest, fuzzRequest, type FuzzTarget, fuzzWire, sizedRequest } from "../support/fuzz-requests.ts";
import { FuzzShim } from "../support/fuzz-shim.ts";
import { call, type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { findFlaw } from "../support/json-rpc.ts";
import { connectClient } from "../support/mcp-client.ts";
import { until } from "../support/pml.ts";
import { Random } from "../support/random.ts";
import { type WireAnswer, sendBytes } from "../support/wire-http.ts";
import { servers } from "../support/upstream-servers.ts";

const seed = Number(process.env["PML_FUZZ_SEED"] ?? 1);
/** 8 × 600 lines and 2 × 5 × 520 requests: 10,000. */
const SHIMS = 8;
const LINES_PER_SHIM = 600;
const ROUNDS = 5;
const REQUESTS_PER_ROUND = 520;
const AT_ONCE = 12;
const BODY_LIMIT = 4 * 1024 * 1024;
/** Measured growth is -10 to +15; leaking one body in a hundred would exceed this. */
const MOST_GROWTH_MB = 64;

type Sent = Pick<FuzzRequest, "kind" | "bytes">;

function fail({ kind, bytes }: Sent, why: string): never {
  const text = JSON.stringify(bytes.toString("latin1").slice(0, 3_000));
  throw new Error(`${why}\nseed ${seed}, ${kind}, ${bytes.length} bytes: ${text}`);
}

function addressOf(home: GatewayHome): DaemonAddress {
  const address = readDaemonAddress(home.path);
  if (address?.pid !== home.daemonPid) {
    const log = readFileSync(join(home.path, "daemon.log"), "utf8");
    throw new Error(`The daemon did not survive (seed ${seed}); its last words:\n${log.slice(-3_000)}`);
  }
  return address;
}

interface Figures {
  readonly rssMb: number;
  readonly sockets: number;
  readonly sessions: number;
  readonly told: number;
  readonly shims: number;
}

async function readFigures(home: GatewayHome): Promise<Figures> {
  const { url, token } = addressOf(home);
  const headers = { Authorization: `Bearer ${token}`, Connection: "close" };
  const text = await (await fetch(new URL("/metrics", url), { headers })).text();
  const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  return {
    rssMb: value("process_resident_memory_bytes") / 1024 ** 2,
    sockets: countSockets(home.daemonPid),
    sessions: value("pml_http_sessions"),
    told: value("pml_mcp_servers"),
    shims: value("pml_stdio_connections"),
  };
}

function countSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  const isSocket = (descriptor: string): boolean => {
    try {
      return readlinkSync(join(folder, descriptor)).startsWith("socket:");
    } catch {
      return false; // closed in the meantime
    }
  };
  return readdirSync(folder).filter(isSocket).length;
}

async function fuzzStdio(home: GatewayHome, random: Random): Promise<void> {
  for (let round = 0; round < SHIMS; round += 1) {
    await using shim = new FuzzShim(home.path);
    const era: Era = round % 2 === 0 ? "legacy" : "modern";
    // A 2025-era client may also send garbage before its handshake.
    const late = round % 4 === 0;
    if (era === "legacy" && !late) await shim.initialize();
    for (let sent = 0; sent < LINES_PER_SHIM; sent += 1) await shim.send(fuzzMessage(random, era));
    if (late) await shim.initialize();
    expect(await shim.works(era)).toBe(true);
    await until("all is answered", () => shim.findUnanswered() === undefined, 5_000).catch(() => undefined);
    const open = shim.findUnanswered();
    if (open !== undefined) fail(open.message, open.why);
    expect([shim.flaw, shim.stderr]).toEqual([undefined, ""]);
    addressOf(home);
  }
}

async function openSession({ url, token }: DaemonAddress): Promise<FuzzTarget> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "fuzz", version: "1" } };
  const response = await fetch(new URL("/mcp", url), {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  });
  await response.text();
  return { host: new URL(url).host, token, session: response.headers.get("mcp-session-id") ?? "" };
}

async function fuzzHttp(home: GatewayHome, random: Random): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const address = addressOf(home);
    const port = Number(new URL(address.url).port);
    const target = await openSession(address);
    const requests = Array.from({ length: REQUESTS_PER_ROUND }, (_, index) =>
      index % 8 === 0 ? fuzzWire(random, target) : fuzzRequest(random, target),
    );
    const send = async (): Promise<void> => {
      for (let request = requests.pop(); request !== undefined; request = requests.pop()) {
        const sending = sendBytes({ ...request, port, patienceMs: request.answered ? 10_000 : 100 });
        checkAnswers(request, await sending.catch((error: unknown) => fail(request, String(error))));
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: AT_ONCE }, send));
    addressOf(home);
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    await using connected = await connectClient(home.path, {
      transport: "http",
      era: round % 2 === 0 ? "auto" : "legacy",
    });
    expect((await call(connected.client, "chaos__echo", { text: "sound" })).text).toBe("chaos: sound");
  }
}

function checkAnswers(request: FuzzRequest, answers: readonly WireAnswer[]): void {
  if (request.answered && answers.length === 0) fail(request, "there was no answer");
  for (const { status, type, body } of answers) {
    const shown = `${status}: ${body.slice(0, 500)}`;
    if (status >= 500) fail(request, `it was answered with ${shown}`);
    const messages = messagesOf(type, body);
    for (const message of messages) {
      const flaw = isPlainError(message) ? undefined : findFlaw(message);
      if (flaw !== undefined) fail(request, `the answer is wrong: ${flaw}: ${shown}`);
    }
    const failed = status >= 400 || messages.some((message) => message.includes(`"error":`));
    if (request.mustFail && !failed) fail(request, `it was answered with ${shown}`);
  }
}

function messagesOf(type: string, body: string): string[] {
  if (body === "" || /^text\/plain|^$/.test(type)) return [];
  if (!type.includes("text/event-stream")) return [body];
  return [...body.matchAll(/^data: (\{.*)$/gm)].map(([, message = ""]) => message);
}

/** Requests that are refused before they reach the protocol. */
function isPlainError(text: string): boolean {
  return /^\{"ok":false,"error":\{"code":"[a-z_]+"/.test(text);
}

async function sendSized(home: GatewayHome, size: number): Promise<number | undefined> {
  const { url, token } = addressOf(home);
  const { host, port } = new URL(url);
  const bytes = sizedRequest({ host, token, session: "" }, size);
  const [answer] = await sendBytes({ port: Number(port), bytes, halfClose: false, patienceMs: 20_000 });
  return answer?.status;
}

test("10,000 malformed messages and requests: errors, no crash, no leak, and calls work all the while [mcp-12]", async () => {
  console.log(`fuzz: PML_FUZZ_SEED=${seed}`);
  const random = new Random(seed);
  // Loading the search model a minute after the start would disturb the measurement.
  const config = { discovery: { tier: "lite" } };
  await using home = await startGateway({ chaos: servers.chaos("chaos") }, { config, env: { PML_LOG_LEVEL: "debug" } });
  await home.ready("chaos");
  expect(await sendSized(home, BODY_LIMIT)).toBe(200);
  for (const size of [BODY_LIMIT + 1, BODY_LIMIT * 2]) expect(await sendSized(home, size)).toBe(413);
  await fuzzHttp(home, random);
  const before = await readFigures(home);
  await fuzzStdio(home, random);
  await fuzzHttp(home, random);

  await until("no connection is left", async () => (await readFigures(home)).sockets <= before.sockets);
  const after = await readFigures(home);
  console.log(
    `fuzz: memory ${Math.round(before.rssMb)} MB after the warm-up, ${Math.round(after.rssMb)} MB at the end`,
  );
  // Garbage is collected in time; leaks are not.
  const growth = async (): Promise<number> => (await readFigures(home)).rssMb - before.rssMb;
  await until(`memory is within ${MOST_GROWTH_MB} MB of before`, async () => (await growth()) < MOST_GROWTH_MB, 90_000);
  // Only properly opened sessions may stay, until they have been idle for long.
  expect([after.shims, after.told]).toEqual([0, after.sessions]);
  expect(await home.server("chaos")).toMatchObject({ state: "ready", inFlight: 0 });
  const log = readFileSync(join(home.path, "daemon.log"), "utf8").split("\n");
  expect(log.filter((line) => line.startsWith(`{"level":"error"`))).toEqual([]);
}, 240_000);
