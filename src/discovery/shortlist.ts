import type { Evidence, SearchDocument } from "./search.ts";
import type { Standing } from "./track-record.ts";

export interface Candidate {
  readonly slot: number;
  readonly document: SearchDocument;
  readonly parts: Readonly<Record<Evidence, number>>;
  readonly total: number;
  readonly standing: Standing;
  /** Explains the connection to a leader. */
  readonly connection?: string;
}

const FEWEST_SORTED = 50;

/** Keeps the best candidates; drops most of many thousands on arrival. */
export class Shortlist {
  readonly #limit: number;
  #kept: Candidate[] = [];
  /** Minimum total to enter the list. */
  least = -Infinity;

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(candidate: Candidate): void {
    if (candidate.total < this.least) return;
    this.#kept.push(candidate);
    if (this.#kept.length < 2 * this.#limit + FEWEST_SORTED) return;
    this.#kept = this.best;
    this.least = this.#kept.at(-1)?.total ?? Infinity;
  }

  /** Best first. */
  get best(): Candidate[] {
    return this.bestWith([]);
  }

  /** Best first, with `better` replacing earlier candidates of the same slot. */
  bestWith(better: readonly Candidate[]): Candidate[] {
    const replaced = new Set(better.map(({ slot }) => slot));
    const all = [...this.#kept.filter(({ slot }) => !replaced.has(slot)), ...better];
    const sorted = all.toSorted((a, b) => b.total - a.total || (a.document.id < b.document.id ? -1 : 1));
    return sorted.slice(0, this.#limit);
  }
}
