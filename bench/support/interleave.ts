export interface Variant {
  readonly name: string;
  /** Does one round of the work and returns the milliseconds that each operation of it took. */
  round(round: number): Promise<readonly number[]>;
}

export interface InterleaveOptions {
  readonly rounds: number;
  /** Rounds that are done but not counted. */
  readonly warmUps: number;
  readonly signal: AbortSignal;
}

/** The milliseconds of each operation, by variant and round. */
export type Samples = ReadonlyMap<string, readonly (readonly number[])[]>;

/**
 * Measures variants in turn, a round of each, again and again. One after the other would compare the
 * machine as it was at different times; and the turn rotates, since the first in it may have it colder.
 */
export async function interleave(
  variants: readonly Variant[],
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

/** Does an operation several times, one after the other; the milliseconds of each. */
export async function timeEach(count: number, operation: () => Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const started = performance.now();
    await operation();
    durations.push(performance.now() - started);
  }
  return durations;
}
