/** Uses and how many of them succeeded. */
export interface Tally {
  readonly uses: number;
  readonly successes: number;
}

/** Statistics of a tool or capability, in total and by context tag. */
export interface TrackRecord extends Tally {
  readonly tags: ReadonlyMap<string, Tally>;
}

/** Success rate smoothed for small counts: adds one success and one failure. */
export function smoothedRate({ uses, successes }: Tally): number {
  return (successes + 1) / (uses + 2);
}

/** A rate below this in a context counts against the document. */
const POOR_RATE = 0.3;
const POOR_PENALTY = 0.2;
const FEWEST_FOR_WARNING = 2;

export interface Standing {
  /** From all uses: positive if most succeeded. */
  readonly record: number;
  /** From uses in similar contexts. */
  readonly context: number;
  readonly warnings: readonly string[];
}

const UNKNOWN: Standing = { record: 0, context: 0, warnings: [] };

/**
 * Base rate plus affinity with the context, minus a penalty for each tag under which it mostly fails; all relative to
 * the prior of a document without uses.
 */
export function judge(known: TrackRecord | undefined, contextTags: readonly string[]): Standing {
  if (known === undefined) return UNKNOWN;
  const tallies = contextTags.flatMap((tag) => {
    const tally = known.tags.get(tag);
    return tally === undefined || tally.uses === 0 ? [] : [{ tag, ...tally }];
  });
  const affinity = tallies.reduce((sum, tally) => sum + smoothedRate(tally) - 0.5, 0) / Math.max(1, contextTags.length);
  const poor = tallies.filter((tally) => smoothedRate(tally) < POOR_RATE);
  return {
    record: smoothedRate(known) - 0.5,
    context: affinity - POOR_PENALTY * poor.length,
    warnings: poor
      .filter(({ uses }) => uses >= FEWEST_FOR_WARNING)
      .map(({ tag, uses, successes }) => `${successes} of ${uses} uses in the context "${tag}" succeeded`),
  };
}
