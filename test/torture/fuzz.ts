/** Sends malformed messages and requests to a gateway, which has to answer with errors and go on working. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
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
import type { CaseOptions, TortureCase } from "./torture-case.ts";

export const fuzz: TortureCase = {
  name: "fuzz",
  promise: "1,000 malformed messages a round: errors, no crash, no leak, and calls work all the while",
  defaultRounds: 20,
  run: async (options) => {
    const { problems, ...figures } = await runFuzz(options);
    return { holds: problems.length === 0, problems, table: [figures] };
  },
};

export interface FuzzReport {
  lines: number;
  requests: number;
  /** Memory of the daemon after the warm-up and at the end. */
  warmMb: number;
  endMb: number;
  problems: string[];
}

export type FuzzOptions = Pick<CaseOptions, "rounds" | "seed" | "say">;

/** Per round: 4 × 120 lines and 2 × 260 requests. */
const SHIMS = 4;
const LINES_PER_SHIM = 120;
const REQUESTS = 260;
const AT_ONCE = 12;
const BODY_LIMIT = 4 * 1024 * 1024;
/** Measured growth is -10 to +15; leaking one body in a hundred would exceed this. */
const MOST_GROWTH_MB = 64;
/** After a shorter warm-up the heap still grows to its working size, so growth shows no leak. */
const LEAST_ROUNDS_FOR_MEMORY = 5;

/** Stops at the first problem: the state of the gateway is unknown afterwards. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const report: FuzzReport = { lines: 0, requests: 0, warmMb: 0, endMb: 0, problems: [] };
  // Loading the search model a minute after the start would disturb the measurement.
  const config = { discovery: { tier: "lite" } };
  await using home = await startGateway({ chaos: servers.chaos("chaos") }, { config, env: { PML_LOG_LEVEL: "debug" } });
  await home.ready("chaos");
  try {
    await new Fuzz(home, options, report).run();
  } catch (error) {
    report.problems.push(`--seed ${options.seed}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return report;
}

class Fuzz {
  readonly #home: GatewayHome;
  readonly #options: FuzzOptions;
  readonly #report: FuzzReport;
  readonly #random: Random;

  constructor(home: GatewayHome, options: FuzzOptions, report: FuzzReport) {
    this.#home = home;
    this.#options = options;
    this.#report = report;
    this.#random = new Random(options.seed);
  }

  async run(): Promise<void> {
    const home = this.#home;
    for (const [size, status] of [
      [BODY_LIMIT, 200],
      [BODY_LIMIT + 1, 413],
      [BODY_LIMIT * 2, 413],
    ] as const)
      expectSame(`status for a body of ${size} bytes`, await sendSized(home, size), status);
    await this.#repeat("requests", (round) => this.#fuzzHttp(round));
    const before = await readFigures(home);
    await this.#repeat("lines", () => this.#fuzzStdio());
    await this.#repeat("requests", (round) => this.#fuzzHttp(round + 1));
    await this.#checkLeaks(before);
    const { state, inFlight } = await home.server("chaos");
    expectSame("state of the server", [state, inFlight], ["ready", 0]);
    const log = readFileSync(join(home.path, "daemon.log"), "utf8").split("\n");
    const errors = log.filter((line) => line.startsWith(`{"level":"error"`));
    expectSame("errors in the log", errors, []);
  }

  async #repeat(what: string, fuzzOnce: (round: number) => Promise<void>): Promise<void> {
    const { rounds, say } = this.#options;
    for (let round = 0; round < rounds; round += 1) {
      await fuzzOnce(round);
      if ((round + 1) % 5 === 0) say(`${what}: round ${round + 1}/${rounds}`);
    }
  }

  async #fuzzStdio(): Promise<void> {
    for (let turn = 0; turn < SHIMS; turn += 1) {
      await using shim = new FuzzShim(this.#home.path);
      const era: Era = turn % 2 === 0 ? "legacy" : "modern";
      // A 2025-era client may also send garbage before its handshake.
      const late = turn % 4 === 0;
      if (era === "legacy" && !late) await shim.initialize();
      for (let sent = 0; sent < LINES_PER_SHIM; sent += 1) await shim.send(fuzzMessage(this.#random, era));
      this.#report.lines += LINES_PER_SHIM;
      if (late) await shim.initialize();
      expectSame("a call over stdio works", await shim.works(era), true);
      await until("all is answered", () => shim.findUnanswered() === undefined, 15_000).catch(() => undefined);
      const open = shim.findUnanswered();
      if (open !== undefined) fail(open.message, open.why);
      expectSame("invalid output, and stderr, of pml mcp", [shim.flaw, shim.stderr], [undefined, ""]);
      addressOf(this.#home);
    }
  }

  async #fuzzHttp(round: number): Promise<void> {
    const address = addressOf(this.#home);
    const port = Number(new URL(address.url).port);
    const target = await openSession(address);
    const requests = Array.from({ length: REQUESTS }, (_, index) =>
      index % 8 === 0 ? fuzzWire(this.#random, target) : fuzzRequest(this.#random, target),
    );
    const send = async (): Promise<void> => {
      for (let request = requests.pop(); request !== undefined; request = requests.pop()) {
        const sending = sendBytes({ ...request, port, patienceMs: request.answered ? 20_000 : 100 });
        checkAnswers(request, await sending.catch((error: unknown) => fail(request, String(error))));
        this.#report.requests += 1;
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: AT_ONCE }, send));
    addressOf(this.#home);
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    const era = round % 2 === 0 ? "auto" : "legacy";
    await using connected = await connectClient(this.#home.path, { transport: "http", era });
    const { text } = await call(connected.client, "chaos__echo", { text: "sound" });
    expectSame("a call over HTTP", text, "chaos: sound");
  }

  async #checkLeaks(before: Figures): Promise<void> {
    const home = this.#home;
    await until("no connection is left", async () => (await readFigures(home)).sockets <= before.sockets);
    const after = await readFigures(home);
    Object.assign(this.#report, { warmMb: Math.round(before.rssMb), endMb: Math.round(after.rssMb) });
    // Only properly opened sessions may stay, until they have been idle for long.
    expectSame("connections and MCP servers that are left", [after.shims, after.told], [0, after.sessions]);
    if (this.#options.rounds < LEAST_ROUNDS_FOR_MEMORY) return;
    // Garbage is collected in time; leaks are not.
    const growth = async (): Promise<number> => (await readFigures(home)).rssMb - before.rssMb;
    await until(
      `memory is within ${MOST_GROWTH_MB} MB of before`,
      async () => (await growth()) < MOST_GROWTH_MB,
      90_000,
    );
  }
}

function expectSame(what: string, found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted))
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

type Sent = Pick<FuzzRequest, "kind" | "bytes">;

function fail({ kind, bytes }: Sent, why: string): never {
  const text = JSON.stringify(bytes.toString("latin1").slice(0, 3_000));
  throw new Error(`${why}\n${kind}, ${bytes.length} bytes: ${text}`);
}

function addressOf(home: GatewayHome): DaemonAddress {
  const address = readDaemonAddress(home.path);
  if (address?.pid !== home.daemonPid) {
    const log = readFileSync(join(home.path, "daemon.log"), "utf8");
    throw new Error(`The daemon did not survive; its last words:\n${log.slice(-3_000)}`);
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
