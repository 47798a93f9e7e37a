/** A step that was predicted: how sure, and whether it came true. */
export interface Prediction {
  readonly confidence: number;
  readonly isRight: boolean;
}

/** One line of a reliability table. */
export interface ReliabilityBin {
  readonly from: number;
  readonly count: number;
  /** Means over the bin. */
  readonly confidence: number;
  readonly right: number;
}

const BINS = 10;

export function reliability(predictions: readonly Prediction[]): ReliabilityBin[] {
  const bins = Map.groupBy(predictions, ({ confidence }) => Math.min(BINS - 1, Math.floor(confidence * BINS)));
  return [...bins]
    .toSorted(([a], [b]) => a - b)
    .map(([bin, items]) => ({
      from: bin / BINS,
      count: items.length,
      confidence: mean(items.map(({ confidence }) => confidence)),
      right: mean(items.map(({ isRight }) => (isRight ? 1 : 0))),
    }));
}

/** Expected calibration error: the mean distance between confidence and share of right ones. */
export function calibrationError(bins: readonly ReliabilityBin[]): number {
  const total = bins.reduce((sum, { count }) => sum + count, 0);
  return bins.reduce((sum, { count, confidence, right }) => sum + count * Math.abs(confidence - right), 0) / total;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
