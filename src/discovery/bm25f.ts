import type { SearchDocument } from "./search.ts";
import { splitPlain, splitWords } from "./query-words.ts";

/** Weights of fields: a name is chosen with more care than a description. */
const FIELDS = [
  { name: "name", weight: 3 },
  { name: "server", weight: 1 },
  { name: "description", weight: 1 },
  { name: "parameters", weight: 0.5 },
  { name: "parameter texts", weight: 0.25 },
  { name: "tags", weight: 1 },
] as const;
export type FieldName = (typeof FIELDS)[number]["name"];

/** BM25's k1 (saturation of repeated words) and b (penalty for long fields). */
const SATURATION = 3;
const LENGTH_PENALTY = 0.75;

/** One number packs the counts of a word in all fields, five bits each. */
const COUNT_BITS = 5;
const MAX_COUNTED = (1 << COUNT_BITS) - 1;

/** Word counts of one document; computed once and shared by every index that holds the document. */
export interface DocumentWords {
  readonly lengths: readonly number[];
  /** Packed counts by stem. */
  readonly counts: ReadonlyMap<string, number>;
  /** Each word as written. */
  readonly plain: ReadonlySet<string>;
}

export function countWords(document: SearchDocument): DocumentWords {
  const { name, server, description, parameters, tags } = document;
  const texts = [
    splitWords(name),
    splitWords(server),
    splitWords(description),
    parameters.flatMap((each) => splitWords(each.name)),
    parameters.flatMap((each) => splitWords(each.description ?? "")),
    tags.flatMap(splitWords),
  ];
  const counts = new Map<string, number>();
  texts.forEach((words, field) => {
    const shift = field * COUNT_BITS;
    for (const word of words) {
      const packed = counts.get(word) ?? 0;
      if (((packed >>> shift) & MAX_COUNTED) < MAX_COUNTED) counts.set(word, packed + (1 << shift));
    }
  });
  const written = [name, server, description, ...parameters.map((each) => each.name), ...tags];
  return { lengths: texts.map(({ length }) => length), counts, plain: new Set(written.flatMap(splitPlain)) };
}

interface Postings {
  readonly slots: number[];
  readonly counts: number[];
}

export interface QueryWord {
  readonly word: string;
  readonly weight: number;
}

/**
 * BM25F over weighted fields. Stores plain counts and derives averages and rarity from the current documents, so that
 * documents can be added and removed one by one.
 */
export class Bm25f {
  readonly #postings = new Map<string, Postings>();
  readonly #documents: (DocumentWords | undefined)[] = [];
  readonly #totals: number[] = FIELDS.map(() => 0);
  #count = 0;
  /** Weight per field and document; recomputed after a change. */
  #weights: Float64Array | undefined;

  add(slot: number, words: DocumentWords): void {
    this.#documents[slot] = words;
    this.#count += 1;
    this.#addLengths(words, 1);
    for (const [word, counts] of words.counts) {
      const postings = this.#postings.get(word);
      if (postings === undefined) this.#postings.set(word, { slots: [slot], counts: [counts] });
      else {
        postings.slots.push(slot);
        postings.counts.push(counts);
      }
    }
  }

  remove(slot: number): void {
    const words = this.#documents[slot];
    if (words === undefined) return;
    this.#documents[slot] = undefined;
    this.#count -= 1;
    this.#addLengths(words, -1);
    for (const word of words.counts.keys()) {
      const postings = this.#postings.get(word);
      const at = postings?.slots.indexOf(slot) ?? -1;
      if (postings === undefined || at < 0) continue;
      postings.slots.splice(at, 1);
      postings.counts.splice(at, 1);
      if (postings.slots.length === 0) this.#postings.delete(word);
    }
  }

  /** Creates a scorer for a text and its clauses that computes each word's score per document once. */
  createScore(): (query: readonly QueryWord[], scores: Float64Array) => void {
    const weights = (this.#weights ??= this.#measureFields());
    const known = new Map<string, Float64Array>();
    return (query, scores) => {
      for (const { word, weight } of query) {
        const postings = this.#postings.get(word);
        if (postings === undefined) continue;
        const worth = known.get(word) ?? this.#weigh(postings, weights);
        known.set(word, worth);
        for (let at = 0; at < worth.length; at += 1) {
          const slot = postings.slots[at] as number;
          scores[slot] = (scores[slot] as number) + weight * (worth[at] as number);
        }
      }
    };
  }

  #weigh({ slots, counts }: Postings, weights: Float64Array): Float64Array {
    const found = slots.length;
    const rarity = Math.log(1 + (this.#count - found + 0.5) / (found + 0.5));
    const worth = new Float64Array(found);
    for (let at = 0; at < found; at += 1) {
      let frequency = 0;
      let field = (slots[at] as number) * FIELDS.length;
      for (let left = counts[at] as number; left !== 0; left >>>= COUNT_BITS, field += 1)
        frequency += (left & MAX_COUNTED) * (weights[field] as number);
      worth[at] = (rarity * frequency) / (frequency + SATURATION);
    }
    return worth;
  }

  #measureFields(): Float64Array {
    const scales = this.#totals.map((total) => LENGTH_PENALTY / Math.max(total / Math.max(1, this.#count), 1e-9));
    const weights = new Float64Array(this.#documents.length * FIELDS.length);
    this.#documents.forEach((words, slot) => {
      FIELDS.forEach(({ weight }, field) => {
        const norm = 1 - LENGTH_PENALTY + (words?.lengths[field] ?? 0) * (scales[field] as number);
        weights[slot * FIELDS.length + field] = weight / norm;
      });
    });
    return weights;
  }

  /** Fields of a document that contain a word. */
  fieldsOf(slot: number, word: string): FieldName[] {
    const packed = this.#documents[slot]?.counts.get(word) ?? 0;
    return FIELDS.filter((_, field) => ((packed >>> (field * COUNT_BITS)) & MAX_COUNTED) > 0).map(({ name }) => name);
  }

  #addLengths({ lengths }: DocumentWords, sign: 1 | -1): void {
    this.#weights = undefined;
    lengths.forEach((length, field) => (this.#totals[field] = (this.#totals[field] ?? 0) + sign * length));
  }
}
