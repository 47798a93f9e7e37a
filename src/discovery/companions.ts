import type { Candidate } from "./shortlist.ts";

/** What was used together with something, and in which share of its uses. */
export type UsedWith = (id: string) => ReadonlyMap<string, number>;

/** So many of the best are asked what they are used with. */
const MOST_ASKED = 3;

/** In units of the spread among candidates: enough to bring up what belongs to the best, never to settle everything. */
const GRAPH_WEIGHT = 1;

export interface Companion {
  readonly points: number;
  /** The one that says most for it. */
  readonly of: string;
  readonly share: number;
}

/** What is used together with the best candidates; those that are far behind the first have little to say. */
export function findCompanions(best: readonly Candidate[], usedWith: UsedWith): ReadonlyMap<string, Companion> {
  const most = best[0]?.total ?? 0;
  const found = new Map<string, Companion>();
  for (const { document, total } of best.slice(0, MOST_ASKED)) {
    const trust = Math.exp(total - most);
    for (const [id, share] of usedWith(document.id)) {
      const known = found.get(id);
      const points = Math.min(GRAPH_WEIGHT, (known?.points ?? 0) + GRAPH_WEIGHT * trust * share);
      found.set(id, known === undefined ? { points, of: document.id, share } : { ...known, points });
    }
  }
  return found;
}

/** How often pairs were used in one run, by one of them and the other. */
export type PairCounts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Shares of the uses of one, as they are believed after few of them. */
export function sharesOf(pairs: PairCounts, id: string, uses: number): ReadonlyMap<string, number> {
  const others = pairs.get(id);
  if (others === undefined) return new Map();
  return new Map([...others].map(([other, runs]) => [other, runs / (Math.max(uses, runs) + 1)]));
}
