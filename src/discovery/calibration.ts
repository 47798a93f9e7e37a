import type { SearchTier } from "./search.ts";

/** What is known of one candidate when its score is made. */
export interface Signals {
  readonly cosine: number;
  readonly bestCosine: number;
  /** Its place among all candidates, in units of their spread. */
  readonly standing: number;
  /** Its share of the best lexical score. */
  readonly lexicalShare: number;
  /** Which part of the query's words the best lexical match has. */
  readonly coverage: number;
}

interface Coefficients {
  readonly cosine: number;
  readonly standing: number;
  readonly behindBest: number;
  readonly lexicalShare: number;
  readonly coverage: number;
  readonly constant: number;
}

/** Logistic regressions over top-ten lists of the four development sets no model was trained on. */
const FITTED: Readonly<Record<SearchTier, Coefficients>> = {
  full: { cosine: 2.37, standing: 0.21, behindBest: 8.12, lexicalShare: 1.75, coverage: 0, constant: -3.3 },
  lite: { cosine: 2.37, standing: 0.21, behindBest: 8.12, lexicalShare: 1.75, coverage: 0, constant: -3.3 },
  lexical: { cosine: 0, standing: 0.21, behindBest: 0, lexicalShare: 3, coverage: 1, constant: -3.3 },
};

/** How probable it is that this is what was asked for. */
export function calibrate(tier: SearchTier, signals: Signals): number {
  const { cosine, standing, behindBest, lexicalShare, coverage, constant } = FITTED[tier];
  const sum =
    cosine * signals.cosine +
    standing * signals.standing +
    behindBest * (signals.cosine - signals.bestCosine) +
    lexicalShare * signals.lexicalShare +
    coverage * signals.coverage +
    constant;
  return 1 / (1 + Math.exp(-sum));
}
