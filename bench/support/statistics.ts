/** Returns the value below which the given share (0 to 1) of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error("There is no percentile of no values");
  return value;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Returns the median over rounds: a round during which the machine was busy does not count. */
export function operationsPerSecond(rounds: readonly (readonly number[])[]): number {
  return median(rounds.map((durations) => (durations.length * 1000) / sum(durations)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
