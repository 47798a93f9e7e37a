/** With fewer values, mean and deviation carry too little information; the range is used instead. */
const FEWEST_FOR_DEVIATION = 10;

/** Parameters that standardise a channel's values. */
export interface Spread {
  readonly middle: number;
  readonly width: number;
  readonly most: number;
}

export function measureSpread(values: Float64Array, slots: readonly number[]): Spread {
  let [sum, squares, least, most] = [0, 0, Infinity, -Infinity];
  for (const slot of slots) {
    const value = values[slot] as number;
    sum += value;
    squares += value * value;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (slots.length < FEWEST_FOR_DEVIATION) return { middle: slots.length === 0 ? 0 : least, width: most - least, most };
  const middle = sum / slots.length;
  return { middle, width: Math.sqrt(Math.max(0, squares / slots.length - middle * middle)), most };
}

export function standardise(value: number, { middle, width }: Spread): number {
  return width > 1e-9 ? (value - middle) / width : 0;
}
