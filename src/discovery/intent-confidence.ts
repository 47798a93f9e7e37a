/** Similarity of an intent to past intents of a capability and of its rivals. */
export interface IntentSignals {
  /** Cosine with its nearest intent, from -1 to 1. */
  readonly nearness: number;
  /** The same for the nearest rival. */
  readonly nextNearness: number;
  /** Number of capabilities compared. */
  readonly pool: number;
}

/** Floor for the rival: unrelated intents rarely come closer, and with few capabilities there may be no rival. */
const UNRELATED = 0.3;
const LARGEST_LEAD = 0.4;

/**
 * Logistic regression over MetaTool, ToolAlpaca and API-Bank in equal parts: tools as capabilities with one to three
 * intents, memories of 2 to 90, and half of the weight on queries whose target is not in memory.
 */
const FITTED = { nearness: 3.29, lead: 8.69, pool: -0.07, constant: -2.83 };

/**
 * Cap for dissimilar wording. For functions of one small API, predictions of 95 % were right in 81 %; from this
 * similarity on they were right in at least 99 % of each set.
 */
const SIMILAR_WORDING = 0.9;
const DISSIMILAR_CAP = 0.94;

/** Probability that the capability is the intended one. */
export function intentConfidence({ nearness, nextNearness, pool }: IntentSignals): number {
  const lead = Math.min(LARGEST_LEAD, nearness - Math.max(UNRELATED, nextNearness));
  const sum =
    FITTED.nearness * nearness + FITTED.lead * lead + FITTED.pool * Math.log(Math.max(1, pool)) + FITTED.constant;
  const fitted = Math.round(1000 / (1 + Math.exp(-sum))) / 1000;
  return nearness < SIMILAR_WORDING ? Math.min(DISSIMILAR_CAP, fitted) : fitted;
}
