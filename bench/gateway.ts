import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { runJson, runPml } from "../test/support/pml.ts";
import { measureLists } from "./gateway/lists.ts";
import { startLoad } from "./gateway/load.ts";
import { gatewayHome, startTargets, type GatewayTarget } from "./gateway/targets.ts";
import { readMemory } from "./storage/daemon.ts";
import type { Benchmark, BenchSession } from "./support/benchmark.ts";
import { interleave, timeEach } from "./support/interleave.ts";
import { percentile } from "./support/statistics.ts";

const ROUNDS = 15;
const CALLS_PER_ROUND = 20;
/** Calls that do not count: a gateway runs for days, so compiling is left out. */
const WARM_UPS = 40;
const IN_FLIGHT = 8;
const CALLS_AT_ONCE = 160;
/** A lean client is faster, so a round needs more calls. */
const LEAN_CALLS = 800;
const MESSAGE = "x".repeat(64);
const LOAD_LIMIT_MS = 60_000;
/** Long enough for a gateway that collects garbage when idle. */
const QUIET_MS = 30_000;

const PEERS = ["mcp-hub", "mcp-proxy", "supergateway"];
const columns = ["direct stdio", "PML stdio", "direct HTTP", "PML HTTP", ...PEERS, "no gateway"];

/** Calls the same tool of the same server directly, through PML and through other gateways. */
export const gateway: Benchmark = {
  title: "tools/call through gateways (server-everything, 64-byte echo)",
  columns,
  async run(session) {
    const folder = mkdtempSync(join(tmpdir(), "pml-bench-gateway-"));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    await measureLists(session, folder);
    session.progress("starting the server seven times, and three other gateways");
    const targets = await startTargets(folder);
    for (const target of targets) stack.use(target);
    await loadSearch(session, folder);
    await measureLatency(session, targets);
    await measureThroughput(session, targets);
    await measureLeanThroughput(session, targets);
    recordMemory(session, targets, "memory, at the end of all calls");
    session.progress(`${QUIET_MS / 1000} s without calls`);
    await setTimeout(QUIET_MS, undefined, { signal: session.signal });
    recordMemory(session, targets, `memory, ${QUIET_MS / 1000} s later`);
  },
};

/** Loads the search model, as in a gateway in use, and waits until nothing is being embedded. */
async function loadSearch(session: BenchSession, folder: string): Promise<void> {
  session.progress("loading the model of PML's search");
  const home = gatewayHome(folder);
  await runPml(["discover", "say something back"], { home });
  for (const deadline = Date.now() + LOAD_LIMIT_MS; Date.now() < deadline; await setTimeout(500)) {
    const { model } = await runJson<{ model: { state: string } }>(["index", "status"], { home });
    if (model.state === "ready") return;
  }
  throw new Error("the model of the search did not get ready");
}

function recordMemory(session: BenchSession, targets: readonly GatewayTarget[], row: string): void {
  for (const { name, pid } of targets) {
    const memory = pid === undefined ? undefined : readMemory(pid);
    if (memory === undefined) continue;
    const goal = name.startsWith("PML") ? { goal: { atMost: 350 } } : {};
    session.record({ row, unit: "MB", column: name, value: memory.rssMb, ...goal });
  }
}

async function measureLatency(session: BenchSession, targets: readonly GatewayTarget[]): Promise<void> {
  session.progress(`${ROUNDS} rounds of ${CALLS_PER_ROUND} calls each`);
  const variants = targets.map((target) => ({
    name: target.name,
    round: () => timeEach(CALLS_PER_ROUND, () => call(target)),
  }));
  const samples = await interleave(variants, { rounds: ROUNDS, warmUps: WARM_UPS, signal: session.signal });
  const p50 = new Map([...samples].map(([name, rounds]) => [name, percentile(rounds.flat(), 0.5)]));
  for (const [name, rounds] of samples) {
    session.record({ row: "call, p50", unit: "ms", column: name, value: p50.get(name) ?? Number.NaN });
    session.record({ row: "call, p95", unit: "ms", column: name, value: percentile(rounds.flat(), 0.95) });
  }
  const ratio = (row: string, column: string, base: string, atMost: number): void => {
    const value = (p50.get(column) ?? Number.NaN) / (p50.get(base) ?? Number.NaN);
    session.record({ row, unit: "×", column, value, goal: { atMost } });
  };
  ratio("p50 ÷ direct stdio", "PML stdio", "direct stdio", 3);
  ratio("p50 ÷ mcp-hub", "PML HTTP", "mcp-hub", 1.1);
  ratio("p50 ÷ direct HTTP", "PML HTTP", "direct HTTP", 1);
}

/** Uses the SDK's client, as agents do: client and benchmark take more CPU than a gateway, the same for all. */
async function measureThroughput(session: BenchSession, targets: readonly GatewayTarget[]): Promise<void> {
  session.progress(`${CALLS_AT_ONCE} calls, ${IN_FLIGHT} at a time, with the SDK's client`);
  const perSecond = await countPerSecond(
    session,
    targets.map((target) => ({ name: target.name, round: () => timeTogether(() => call(target)) })),
    CALLS_AT_ONCE,
  );
  const row = "calls/s, 8 in flight, SDK's client";
  for (const [column, value] of perSecond) session.record({ row, unit: "/s", column, value });
  const ratio = (column: string): number => (perSecond.get(column) ?? 0) / bestPeer(perSecond);
  const ratios = `${row} ÷ best peer`;
  for (const column of ["PML stdio", "PML HTTP"])
    session.record({ row: ratios, unit: "×", column, value: ratio(column), goal: { atLeast: 2 } });
  session.record({ row: ratios, unit: "×", column: "no gateway", value: ratio("no gateway") });
}

/** Uses a lean client in another process, so that the gateways are the bottleneck. */
async function measureLeanThroughput(session: BenchSession, targets: readonly GatewayTarget[]): Promise<void> {
  session.progress(`${LEAN_CALLS} calls, ${IN_FLIGHT} at a time, with a lean client`);
  await using load = startLoad();
  const callers: LoadCaller[] = [];
  for (const { name, tool, http } of targets) {
    if (http === undefined) continue;
    await load.open(name, { ...http, tool }, IN_FLIGHT);
    callers.push({ name, round: () => load.run(name, LEAN_CALLS, MESSAGE) });
  }
  const perSecond = await countPerSecond(session, callers, LEAN_CALLS);
  const row = "calls/s, 8 in flight, lean client";
  for (const [column, value] of perSecond) session.record({ row, unit: "/s", column, value });
  const value = (perSecond.get("PML HTTP") ?? 0) / bestPeer(perSecond);
  session.record({ row: `${row} ÷ best peer`, unit: "×", column: "PML HTTP", value, goal: { atLeast: 2 } });
}

interface LoadCaller {
  readonly name: string;
  /** Returns the milliseconds of a round of calls. */
  readonly round: () => Promise<number>;
}

async function countPerSecond(
  session: BenchSession,
  callers: readonly LoadCaller[],
  calls: number,
): Promise<ReadonlyMap<string, number>> {
  const variants = callers.map(({ name, round }) => ({ name, round: async () => [await round()] }));
  const samples = await interleave(variants, { rounds: 7, warmUps: WARM_UPS / 4, signal: session.signal });
  return new Map([...samples].map(([name, rounds]) => [name, (calls * 1000) / percentile(rounds.flat(), 0.5)]));
}

function bestPeer(perSecond: ReadonlyMap<string, number>): number {
  return Math.max(...PEERS.map((name) => perSecond.get(name) ?? 0));
}

async function timeTogether(one: () => Promise<void>): Promise<number> {
  const started = performance.now();
  let left = CALLS_AT_ONCE;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await one();
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return performance.now() - started;
}

async function call({ client, tool }: GatewayTarget): Promise<void> {
  const { content } = await client.callTool({ name: tool, arguments: { message: MESSAGE } });
  if (!JSON.stringify(content).includes(MESSAGE)) throw new Error(`${tool} did not echo: ${JSON.stringify(content)}`);
}
