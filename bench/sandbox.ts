import { readFileSync } from "node:fs";
import { openSandbox, runProgram } from "../test/support/sandbox.ts";
import { openTargets, type SandboxTarget } from "./sandbox/targets.ts";
import type { Benchmark, Goal, BenchSession } from "./support/benchmark.ts";
import { interleave } from "./support/interleave.ts";
import { percentile } from "./support/statistics.ts";

const ROUNDS = 20;
const RUNS_PER_ROUND = 10;
const AT_ONCE = 4;
const RUNS_TOGETHER = 200;
const CPU_RUNS = 300;
const STARTS = 5;

const TRIVIAL = "return 1 + 1";
const SEQUENTIAL = "let n = 0; for (let i = 0; i < 10; i++) n = (await tool({ n: n + 1 })).n; return n";
const PARALLEL = "return (await Promise.all(Array.from({ length: 10 }, (_, n) => tool({ n })))).length";
const HUNDRED = "let n = 0; for (let i = 0; i < 100; i++) n = (await tool({ n: n + 1 })).n; return n";

/** Only the default engine has goals. */
const GOALS_FOR = "PML";

/** Compares programs in the sandbox with an isolate without any process or limit around it. */
export const sandbox: Benchmark = {
  title: "programs in the sandbox (tools that answer at once)",
  columns: ["bare isolate", "PML", "PML with QuickJS"],
  async run(session) {
    await using stack = new AsyncDisposableStack();
    session.progress("starting");
    const targets = await openTargets();
    for (const target of targets) stack.use(target);
    await measureLatency(session, targets);
    await measureCpu(session, targets);
    await measureThroughput(session, targets);
    measureMemory(session, targets);
    await measureStart(session);
  },
};

function record(
  session: BenchSession,
  figure: { row: string; unit: string; column: string; value: number },
  goal: Goal,
): void {
  session.record({ ...figure, ...(figure.column === GOALS_FOR ? { goal } : {}) });
}

async function measureLatency(session: BenchSession, targets: readonly SandboxTarget[]): Promise<void> {
  const p50 = new Map<string, number>();
  const rows = [
    { row: "trivial run", body: TRIVIAL, p50Goal: 2, p95Goal: 6 },
    { row: "10 calls, one after the other", body: SEQUENTIAL, p50Goal: 4, p95Goal: 10 },
    { row: "10 calls at once", body: PARALLEL, p50Goal: 3, p95Goal: Number.POSITIVE_INFINITY },
    {
      row: "100 calls, one after the other",
      body: HUNDRED,
      p50Goal: Number.POSITIVE_INFINITY,
      p95Goal: Number.POSITIVE_INFINITY,
    },
  ];
  for (const { row, body, p50Goal, p95Goal } of rows) {
    session.progress(row);
    const variants = targets.map(({ name, measure }) => ({
      name,
      round: async () => (await measure(body, RUNS_PER_ROUND)).durations,
    }));
    const samples = await interleave(variants, { rounds: ROUNDS, warmUps: 3, signal: session.signal });
    for (const [column, rounds] of samples) {
      const value = percentile(rounds.flat(), 0.5);
      p50.set(`${column} ${row}`, value);
      const p95 = percentile(rounds.flat(), 0.95);
      recordWithOptionalGoal(session, { row: `${row}, p50`, unit: "ms", column, value }, p50Goal);
      recordWithOptionalGoal(session, { row: `${row}, p95`, unit: "ms", column, value: p95 }, p95Goal);
    }
  }
  for (const { name: column } of targets) {
    const of = (row: string): number => p50.get(`${column} ${row}`) ?? Number.NaN;
    const value = (of("100 calls, one after the other") - of("trivial run")) / 100;
    record(session, { row: "a call", unit: "ms", column, value }, { atMost: 0.2 });
  }
}

/** Records a figure; some rows have no goal. */
function recordWithOptionalGoal(
  session: BenchSession,
  figure: { row: string; unit: string; column: string; value: number },
  atMost: number,
): void {
  if (Number.isFinite(atMost)) record(session, figure, { atMost });
  else session.record(figure);
}

async function measureCpu(session: BenchSession, targets: readonly SandboxTarget[]): Promise<void> {
  session.progress(`computing of ${CPU_RUNS} trivial runs`);
  for (const { name: column, measure } of targets) {
    const { cpuMs } = await measure(TRIVIAL, CPU_RUNS);
    record(session, { row: "computing, trivial run", unit: "CPU ms", column, value: cpuMs / CPU_RUNS }, { atMost: 4 });
  }
}

async function measureThroughput(session: BenchSession, targets: readonly SandboxTarget[]): Promise<void> {
  const able = targets.flatMap(({ name, runTogether }) => (runTogether === undefined ? [] : [{ name, runTogether }]));
  for (const { row, body, goal } of [
    { row: `trivial runs, ${AT_ONCE} at once`, body: TRIVIAL, goal: 400 },
    { row: `runs of 10 calls, ${AT_ONCE} at once`, body: SEQUENTIAL, goal: 250 },
  ]) {
    session.progress(row);
    const variants = able.map(({ name, runTogether }) => ({
      name,
      round: async () => [await timeTogether(() => runTogether(body))],
    }));
    const samples = await interleave(variants, { rounds: 7, warmUps: 1, signal: session.signal });
    for (const [column, rounds] of samples) {
      const value = (RUNS_TOGETHER * 1000) / percentile(rounds.flat(), 0.5);
      record(session, { row, unit: "/s", column, value }, { atLeast: goal });
    }
  }
}

async function timeTogether(run: () => Promise<void>): Promise<number> {
  const started = performance.now();
  let left = RUNS_TOGETHER;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return performance.now() - started;
}

function measureMemory(session: BenchSession, targets: readonly SandboxTarget[]): void {
  for (const { name: column, pids } of targets) {
    const sizes = pids.flatMap((pid) => findPssMb(pid) ?? []);
    if (sizes.length === 0) continue;
    const value = percentile(sizes, 0.5);
    session.record({ row: "memory of a used child", unit: "MB PSS", column, value });
  }
}

function findPssMb(pid: number): number | undefined {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]) / 1024;
  } catch {
    return undefined;
  }
}

async function measureStart(session: BenchSession): Promise<void> {
  session.progress("starting children");
  for (const [column, engine] of [
    ["PML", "isolated-vm"],
    ["PML with QuickJS", "quickjs"],
  ] as const) {
    const times: number[] = [];
    const sizes: number[] = [];
    for (let done = 0; done < STARTS; done += 1) {
      await using opened = openSandbox({ engine, idleChildren: 2 });
      const started = performance.now();
      await runProgram(opened, TRIVIAL);
      times.push(performance.now() - started);
      sizes.push(...opened.pids.flatMap((pid) => findPssMb(pid) ?? []));
    }
    record(
      session,
      { row: "start of a child and its first run", unit: "ms", column, value: percentile(times, 0.5) },
      { atMost: 200 },
    );
    if (sizes.length > 0) {
      record(
        session,
        { row: "memory of a new child", unit: "MB PSS", column, value: percentile(sizes, 0.5) },
        { atMost: 30 },
      );
    }
  }
}
