import type { Candidate } from "../shortlist.ts";
import type { Recollection } from "./capability-memory.ts";

/** Evidence from past intents. */
export interface Recalled {
  /** Undefined if it has none. */
  readonly scoreOf: (id: string) => number | undefined;
  /** In standard deviations, as evidence beside words and meaning. */
  readonly pointsOf: (id: string) => number;
  readonly explain: (id: string) => string;
}

/** Enough to lead if something was done before in nearly the same words. */
const MOST_POINTS = 2.5;
/** The score of intents that have little in common. */
const UNRELATED = 0.6;
/** Score per point of the other evidence: it settles ties. */
const OTHER_EVIDENCE = 0.1;
/** Exceeds every score. */
const NAMED = 100;

export function toRecalled(recollections: ReadonlyMap<string, Recollection>): Recalled {
  return {
    scoreOf: (id) => recollections.get(id)?.score,
    pointsOf: (id) => {
      const known = recollections.get(id);
      return known === undefined ? 0 : MOST_POINTS * Math.tanh(known.score - UNRELATED);
    },
    explain: (id) => {
      const known = recollections.get(id);
      return known === undefined ? "" : `similarity ${known.nearness.toFixed(2)} with what it was used for`;
    },
  };
}

/**
 * Orders the capabilities among themselves by past intents, which predict better than descriptions; the places they
 * share with tools stay where all evidence puts them.
 */
export function orderRecalled(best: readonly Candidate[], recalled: Recalled | undefined): readonly Candidate[] {
  if (recalled === undefined) return best;
  const keys = new Map<Candidate, number>();
  for (const candidate of best) {
    const { document, parts, total } = candidate;
    const score = recalled.scoreOf(document.id);
    if (score === undefined) continue;
    const rest = total - parts.intents - parts.name;
    keys.set(candidate, score + OTHER_EVIDENCE * rest + (parts.name > 0 ? NAMED : 0));
  }
  const ordered = [...keys].toSorted(([, a], [, b]) => b - a).map(([candidate]) => candidate);
  let next = 0;
  return best.map((candidate) => (keys.has(candidate) ? (ordered[next++] as Candidate) : candidate));
}
