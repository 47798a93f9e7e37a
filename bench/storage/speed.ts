import type { Goal, BenchSession } from "../support/benchmark.ts";
import { interleave, type Samples } from "../support/interleave.ts";
import { operationsPerSecond, percentile } from "../support/statistics.ts";
import { type Column, PML_PGLITE } from "./engine.ts";
import type { EngineHandle } from "./engine-handle.ts";
import { JOURNAL_ROWS_PER_STATEMENT } from "./sample-data.ts";

const ROUNDS = 8;
const LOOKUPS_PER_ROUND = 300;
const COMMITS_PER_ROUND = 150;
const BATCHES_PER_ROUND = 6;
const COMMITS_GOAL: Goal = { atLeast: 500 };
const ROWS_GOAL: Goal = { atLeast: 5_000 };

export async function measureLookups(engines: readonly EngineHandle[], session: BenchSession): Promise<void> {
  session.progress("point lookups");
  const samples = await measure(engines, "lookup", LOOKUPS_PER_ROUND, session.signal);
  for (const [title, share] of [
    ["lookup by name, p50", 0.5],
    ["lookup by name, p95", 0.95],
  ] as const) {
    for (const [column, rounds] of samples) {
      session.record({ row: title, unit: "µs", column, value: percentile(rounds.flat(), share) * 1000 });
    }
  }
}

export async function measureWrites(engines: readonly EngineHandle[], session: BenchSession): Promise<void> {
  session.progress("single commits");
  const commits = await measure(engines, "insert", COMMITS_PER_ROUND, session.signal);
  for (const [column, rounds] of commits) {
    const value = operationsPerSecond(rounds);
    session.record({ row: "insert + commit, one row", unit: "/s", column, value, ...goalOf(column, COMMITS_GOAL) });
  }
  session.progress("batched journal rows");
  const batches = await measure(engines, "batch", BATCHES_PER_ROUND, session.signal);
  const row = `journal rows, ${JOURNAL_ROWS_PER_STATEMENT} a statement`;
  for (const [column, rounds] of batches) {
    const value = operationsPerSecond(rounds) * JOURNAL_ROWS_PER_STATEMENT;
    session.record({ row, unit: "rows/s", column, value, ...goalOf(column, ROWS_GOAL) });
  }
}

function measure(
  engines: readonly EngineHandle[],
  kind: "lookup" | "insert" | "batch",
  count: number,
  signal: AbortSignal,
): Promise<Samples> {
  const variants = engines.map((engine) => ({ name: engine.column, round: () => engine.measure(kind, count) }));
  return interleave(variants, { rounds: ROUNDS, warmUps: 1, signal });
}

/** Only PML's default engine has goals; the others are there for comparison. */
function goalOf(column: string, goal: Goal): { goal?: Goal } {
  return column === (PML_PGLITE satisfies Column) ? { goal } : {};
}
