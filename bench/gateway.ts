import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTargets, type Target } from "./gateway/targets.ts";
import { readMemory } from "./storage/daemon.ts";
import type { Benchmark, Session } from "./support/benchmark.ts";
import { interleave, timeEach } from "./support/interleave.ts";
import { percentile } from "./support/statistics.ts";

const ROUNDS = 15;
const CALLS_PER_ROUND = 20;
const IN_FLIGHT = 8;
const CALLS_AT_ONCE = 160;
const MESSAGE = "x".repeat(64);

const columns = ["direct stdio", "PML stdio", "direct HTTP", "PML HTTP", "mcp-hub", "mcp-proxy", "supergateway"];

/** The same tool of the same server, reached directly, through PML and through other gateways. */
export const gateway: Benchmark = {
  title: "tools/call through gateways (server-everything, 64-byte echo)",
  columns,
  async run(session) {
    const folder = mkdtempSync(join(tmpdir(), "pml-bench-gateway-"));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    session.progress("starting the server seven times, and three other gateways");
    const targets = await startTargets(folder);
    for (const target of targets) stack.use(target);
    await measureLatency(session, targets);
    await measureThroughput(session, targets);
    for (const { name, pid } of targets) {
      const memory = pid === undefined ? undefined : readMemory(pid);
      if (memory !== undefined) {
        const goal = name.startsWith("PML") ? { goal: { atMost: 300 } } : {};
        session.record({ row: "memory of the gateway", unit: "MB", column: name, value: memory.rssMb, ...goal });
      }
    }
  },
};

async function measureLatency(session: Session, targets: readonly Target[]): Promise<void> {
  session.progress(`${ROUNDS} rounds of ${CALLS_PER_ROUND} calls each`);
  const variants = targets.map((target) => ({
    name: target.name,
    round: () => timeEach(CALLS_PER_ROUND, () => call(target)),
  }));
  const samples = await interleave(variants, { rounds: ROUNDS, warmUps: 3, signal: session.signal });
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
  ratio("p50 ÷ mcp-hub", "PML HTTP", "mcp-hub", 1);
  ratio("p50 ÷ direct HTTP", "PML HTTP", "direct HTTP", 1);
}

async function measureThroughput(session: Session, targets: readonly Target[]): Promise<void> {
  session.progress(`${CALLS_AT_ONCE} calls, ${IN_FLIGHT} at a time`);
  const variants = targets.map((target) => ({ name: target.name, round: async () => [await timeTogether(target)] }));
  const samples = await interleave(variants, { rounds: 7, warmUps: 2, signal: session.signal });
  const perSecond = new Map(
    [...samples].map(([name, rounds]) => [name, (CALLS_AT_ONCE * 1000) / percentile(rounds.flat(), 0.5)]),
  );
  for (const [column, value] of perSecond) session.record({ row: "calls, 8 in flight", unit: "/s", column, value });
  const best = Math.max(...["mcp-hub", "mcp-proxy", "supergateway"].map((name) => perSecond.get(name) ?? 0));
  for (const column of ["PML stdio", "PML HTTP"]) {
    session.record({
      row: "calls/s ÷ best peer",
      unit: "×",
      column,
      value: (perSecond.get(column) ?? 0) / best,
      goal: { atLeast: 2 },
    });
  }
}

async function timeTogether(target: Target): Promise<number> {
  const started = performance.now();
  let left = CALLS_AT_ONCE;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call(target);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return performance.now() - started;
}

async function call({ client, tool }: Target): Promise<void> {
  const { content } = await client.callTool({ name: tool, arguments: { message: MESSAGE } });
  if (!JSON.stringify(content).includes(MESSAGE)) throw new Error(`${tool} did not echo: ${JSON.stringify(content)}`);
}
