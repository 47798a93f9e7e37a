import type { BenchSession } from "../support/benchmark.ts";
import { average, type Quality } from "./metrics.ts";

/** Evidence must not make any set worse. */
const MIN_GAIN = -0.1;

/** Records the quality of the same queries without and with some evidence. */
export function recordGain(
  session: BenchSession,
  row: string,
  asked: Readonly<Record<"without" | "with", readonly Quality[]>>,
): void {
  const unit = "nDCG@10 %";
  const value = { without: 100 * average(asked.without).ndcg10, with: 100 * average(asked.with).ndcg10 };
  for (const column of ["without", "with"] as const) session.record({ row, unit, column, value: value[column] });
  session.record({ row, unit, column: "gain", value: value.with - value.without, goal: { atLeast: MIN_GAIN } });
}
