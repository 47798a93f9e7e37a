import type { Candidate } from "./shortlist.ts";

/** Shares of a document's uses in which other documents were used too. */
export type UsedWith = (id: string) => ReadonlyMap<string, number>;

/** Number of leaders whose companions count. */
const MAX_LEADERS = 3;

/** In standard deviations: lifts companions of the best without deciding the ranking alone. */
const GRAPH_WEIGHT = 1;

export interface Companion {
  readonly points: number;
  /** The leader that contributes most. */
  readonly of: string;
  readonly share: number;
}

/** Finds documents used together with the leaders; a leader far behind the first contributes little. */
export function findCompanions(best: readonly Candidate[], usedWith: UsedWith): ReadonlyMap<string, Companion> {
  const most = best[0]?.total ?? 0;
  const found = new Map<string, Companion>();
  for (const { document, total } of best.slice(0, MAX_LEADERS)) {
    const trust = Math.exp(total - most);
    for (const [id, share] of usedWith(document.id)) {
      const known = found.get(id);
      const points = Math.min(GRAPH_WEIGHT, (known?.points ?? 0) + GRAPH_WEIGHT * trust * share);
      found.set(id, known === undefined ? { points, of: document.id, share } : { ...known, points });
    }
  }
  return found;
}

/** Number of runs that used both, by either id. */
export type PairCounts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Shares of uses, smoothed for small counts. */
export function sharesOf(pairs: PairCounts, id: string, uses: number): ReadonlyMap<string, number> {
  const others = pairs.get(id);
  if (others === undefined) return new Map();
  return new Map([...others].map(([other, runs]) => [other, runs / (Math.max(uses, runs) + 1)]));
}
