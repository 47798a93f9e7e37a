import type { Session } from "../support/benchmark.ts";
import { average, type Quality } from "./metrics.ts";

/** Where there is nothing to gain, nothing must be lost. */
const LEAST_GAIN = -0.1;

/** The same queries, asked without and with some evidence. */
export function recordGain(
  session: Session,
  row: string,
  asked: Readonly<Record<"without" | "with", readonly Quality[]>>,
): void {
  const unit = "nDCG@10 %";
  const value = { without: 100 * average(asked.without).ndcg10, with: 100 * average(asked.with).ndcg10 };
  for (const column of ["without", "with"] as const) session.record({ row, unit, column, value: value[column] });
  session.record({ row, unit, column: "gain", value: value.with - value.without, goal: { atLeast: LEAST_GAIN } });
}
