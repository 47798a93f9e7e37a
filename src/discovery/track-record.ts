/** How often something was used, and how often that went well. */
export interface Tally {
  readonly uses: number;
  readonly successes: number;
}

/** What is known of a tool or capability from its uses, in all and for each context tag. */
export interface TrackRecord extends Tally {
  readonly tags: ReadonlyMap<string, Tally>;
}

/** A success rate as it is believed after few uses: one success and one failure are added to what was seen. */
export function believedRate({ uses, successes }: Tally): number {
  return (successes + 1) / (uses + 2);
}

/** A rate below this in a context counts against it. */
const POOR_RATE = 0.3;
const POOR_PENALTY = 0.2;
const FEWEST_FOR_WARNING = 2;

export interface Standing {
  /** From all uses: above 0 when more went well than not. */
  readonly record: number;
  /** From uses in contexts like this one. */
  readonly context: number;
  readonly warnings: readonly string[];
}

const UNKNOWN: Standing = { record: 0, context: 0, warnings: [] };

/**
 * Base rate, plus affinity with the context, minus a penalty for each tag under which it mostly fails;
 * all relative to what is believed of something that was never used.
 */
export function judge(known: TrackRecord | undefined, contextTags: readonly string[]): Standing {
  if (known === undefined) return UNKNOWN;
  const tallies = contextTags.flatMap((tag) => {
    const tally = known.tags.get(tag);
    return tally === undefined || tally.uses === 0 ? [] : [{ tag, ...tally }];
  });
  const affinity = tallies.reduce((sum, tally) => sum + believedRate(tally) - 0.5, 0) / Math.max(1, contextTags.length);
  const poor = tallies.filter((tally) => believedRate(tally) < POOR_RATE);
  return {
    record: believedRate(known) - 0.5,
    context: affinity - POOR_PENALTY * poor.length,
    warnings: poor
      .filter(({ uses }) => uses >= FEWEST_FOR_WARNING)
      .map(({ tag, uses, successes }) => `${successes} of ${uses} uses in the context "${tag}" succeeded`),
  };
}
