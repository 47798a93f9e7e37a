export interface MeasuredVariant {
  readonly name: string;
  /** Runs one round and returns the milliseconds of each operation. */
  round(round: number): Promise<readonly number[]>;
}

export interface InterleaveOptions {
  readonly rounds: number;
  /** Rounds that do not count. */
  readonly warmUps: number;
  readonly signal: AbortSignal;
}

/** Milliseconds of each operation, by variant and round. */
export type Samples = ReadonlyMap<string, readonly (readonly number[])[]>;

/**
 * Measures variants alternately, one round of each. Running them one after the other would compare the machine at
 * different times. The order rotates, because the first of a round may run colder.
 */
export async function interleave(
  variants: readonly MeasuredVariant[],
  { rounds, warmUps, signal }: InterleaveOptions,
): Promise<Samples> {
  const samples = new Map<string, (readonly number[])[]>(variants.map(({ name }) => [name, []]));
  for (let round = 0; round < warmUps + rounds; round += 1) {
    const first = round % variants.length;
    for (const variant of [...variants.slice(first), ...variants.slice(0, first)]) {
      signal.throwIfAborted();
      const durations = await variant.round(round);
      if (round >= warmUps) samples.get(variant.name)?.push(durations);
    }
  }
  return samples;
}

/** Runs an operation several times in sequence and returns the milliseconds of each. */
export async function timeEach(count: number, operation: () => Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const started = performance.now();
    await operation();
    durations.push(performance.now() - started);
  }
  return durations;
}
