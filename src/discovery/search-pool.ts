import { Bm25f, type DocumentWords, type QueryWord } from "./bm25f.ts";
import { calibrate } from "./calibration.ts";
import { explainMeaning, explainStanding, explainWords } from "./explain.ts";
import { givenKeys, nameKeys } from "./named.ts";
import { toQueryWords } from "./query.ts";
import type { Evidence, EvidencePart, Ranked, SearchDocument, SearchTier } from "./search.ts";
import { measureSpread, type Spread, standardise } from "./spread.ts";
import { judge, type Standing, type TrackRecord } from "./track-record.ts";
import { VectorMatrix } from "./vector-matrix.ts";
import { Vocabulary } from "./vocabulary.ts";

/** A document with what is computed from its text once. */
export interface PreparedDocument {
  readonly document: SearchDocument;
  readonly words: DocumentWords;
}

/** What a query is compared with: the vectors of one tier. */
export type VectorTier = Exclude<SearchTier, "lexical">;

export interface RankRequest {
  readonly text: string;
  readonly tier: SearchTier;
  /** The vector of the text, and where they were wanted those of its clauses; none in the lexical tier. */
  readonly vectors: readonly Float32Array[];
  /** The steps that the text has. */
  readonly clauses: readonly string[];
  readonly accept: (document: SearchDocument) => boolean;
  readonly contextTags: readonly string[];
  readonly recordOf: (id: string) => TrackRecord | undefined;
  readonly limit: number;
}

/** How much lexical and vector evidence count, by tier. */
const WEIGHTS: Readonly<Record<SearchTier, { readonly words: number; readonly meaning: number }>> = {
  full: { words: 0.2, meaning: 0.8 },
  lite: { words: 0.3, meaning: 0.7 },
  lexical: { words: 1, meaning: 0 },
};
/** With vectors of each clause, words are needed less. */
const CLAUSES_SHIFT = 0.05;
const CLAUSE_SHARE = 0.3;
/** In units of the spread among candidates: what settles near ties, and what settles everything. */
const RECORD_WEIGHT = 0.3;
const CONTEXT_WEIGHT = 0.6;
const NAMED_POINTS = 3;
/** Above what a record and a context can add. */
const MOST_STANDING = 0.5;
const FEWEST_SORTED = 50;

interface Channels {
  readonly lexical: Float64Array;
  readonly cosine: Float64Array;
  readonly query: readonly QueryWord[];
}

interface Candidate {
  readonly slot: number;
  readonly document: SearchDocument;
  readonly parts: Readonly<Record<Exclude<Evidence, "graph">, number>>;
  readonly total: number;
  readonly standing: Standing;
}

/** Everything that one viewer may find, ranked by all evidence at hand. It knows of nothing else. */
export class SearchPool {
  readonly #index = new Bm25f();
  readonly #vocabulary = new Vocabulary();
  readonly #words: (DocumentWords | undefined)[] = [];
  readonly #documents: (SearchDocument | undefined)[] = [];
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  /** Slots by what their documents can be called. */
  readonly #names = new Map<string, Set<number>>();
  readonly #matrices: Record<VectorTier, VectorMatrix | undefined> = { full: undefined, lite: undefined };
  /** Slots that have a vector. */
  readonly #filled: Readonly<Record<VectorTier, Set<number>>> = { full: new Set(), lite: new Set() };

  get size(): number {
    return this.#slots.size;
  }

  count(kind: SearchDocument["kind"]): number {
    return this.#documents.filter((document) => document?.kind === kind).length;
  }

  /** Takes the place of what had the same id. */
  add({ document, words }: PreparedDocument): void {
    this.remove(document.id);
    const slot = this.#free.pop() ?? this.#documents.length;
    this.#documents[slot] = document;
    this.#slots.set(document.id, slot);
    this.#words[slot] = words;
    this.#index.add(slot, words);
    this.#vocabulary.add(words.plain);
    for (const key of nameKeys(document)) {
      const sharing = this.#names.get(key);
      if (sharing === undefined) this.#names.set(key, new Set([slot]));
      else sharing.add(slot);
    }
  }

  remove(id: string): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    for (const key of nameKeys(this.#documents[slot] as SearchDocument)) this.#names.get(key)?.delete(slot);
    this.#documents[slot] = undefined;
    this.#index.remove(slot);
    this.#vocabulary.remove(this.#words[slot]?.plain ?? []);
    this.#words[slot] = undefined;
    for (const tier of ["full", "lite"] as const) {
      if (this.#filled[tier].delete(slot)) this.#matrices[tier]?.set(slot, new Float32Array(0));
    }
    this.#free.push(slot);
  }

  setVector(tier: VectorTier, id: string, vector: Float32Array): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#matrices[tier] ??= new VectorMatrix(vector.length);
    this.#matrices[tier].set(slot, vector);
    this.#filled[tier].add(slot);
  }

  /** Whether everything in it can be compared by meaning. */
  isComplete(tier: VectorTier): boolean {
    return this.#filled[tier].size === this.#slots.size;
  }

  countVectors(tier: VectorTier): number {
    return this.#filled[tier].size;
  }

  /** A query without the mistakes that what is in here lets one recognise. */
  correct(text: string, isEnglish: (word: string) => boolean): string {
    return this.#vocabulary.correct(text, isEnglish);
  }

  rank(request: RankRequest): Ranked[] {
    // The measure is everything in here, so that a filter leaves scores as they are.
    const slots = [...this.#slots.values()];
    const channels = this.#score(request);
    const best = this.#fuse(slots, channels, request);
    return this.#present(best, slots, channels, request);
  }

  #score(request: RankRequest): Channels {
    const { text, clauses, vectors, tier } = request;
    const query = toQueryWords(text);
    const score = this.#index.createScore();
    const lexical = this.#blend(clauses.length, (clause, scores) =>
      score(clause < 0 ? query : toQueryWords(clauses[clause] ?? ""), scores),
    );
    const matrix = tier === "lexical" ? undefined : this.#matrices[tier];
    const cosine = this.#blend(Math.max(0, vectors.length - 1), (clause, scores) =>
      matrix?.compare(vectors[clause + 1] ?? new Float32Array(0), scores),
    );
    return { lexical, cosine, query };
  }

  /** The score of the whole text (-1) and, for a mission, the best of its clauses. */
  #blend(clauses: number, score: (clause: number, scores: Float64Array) => void): Float64Array {
    const size = this.#documents.length;
    const whole = new Float64Array(size);
    score(-1, whole);
    if (clauses === 0) return whole;
    const best = new Float64Array(size).fill(-Infinity);
    const scores = new Float64Array(size);
    for (let clause = 0; clause < clauses; clause += 1) {
      score(clause, scores.fill(0));
      for (let slot = 0; slot < size; slot += 1) best[slot] = Math.max(best[slot] as number, scores[slot] as number);
    }
    for (let slot = 0; slot < size; slot += 1)
      whole[slot] = (1 - CLAUSE_SHARE) * (whole[slot] as number) + CLAUSE_SHARE * (best[slot] as number);
    return whole;
  }

  #fuse(slots: readonly number[], { lexical, cosine }: Channels, request: RankRequest): Candidate[] {
    const { tier, vectors, text, contextTags, recordOf } = request;
    const shift = vectors.length > 1 ? CLAUSES_SHIFT : 0;
    const weights = { words: WEIGHTS[tier].words - shift, meaning: WEIGHTS[tier].meaning + shift };
    const spreads: Readonly<Record<"words" | "meaning", Spread>> = {
      words: measureSpread(lexical, slots),
      meaning: measureSpread(cosine, slots),
    };
    const named = new Set(givenKeys(text).flatMap((key) => [...(this.#names.get(key) ?? [])]));
    const shortlist = new Shortlist(request.limit);
    for (const slot of slots) {
      const words = weights.words * standardise(lexical[slot] as number, spreads.words);
      const meaning = weights.meaning * standardise(cosine[slot] as number, spreads.meaning);
      const name = named.has(slot) ? NAMED_POINTS : 0;
      // most are seen to be too far behind before anything else is asked about them
      if (words + meaning + name + MOST_STANDING < shortlist.least) continue;
      const hasNothing = lexical[slot] === 0 && cosine[slot] === 0 && name === 0;
      const document = this.#documents[slot] as SearchDocument;
      if (hasNothing || !request.accept(document)) continue;
      const standing = judge(recordOf(document.id), contextTags);
      const [record, context] = [RECORD_WEIGHT * standing.record, CONTEXT_WEIGHT * standing.context];
      const total = words + meaning + name + record + context;
      shortlist.offer({ slot, document, parts: { words, meaning, name, record, context }, total, standing });
    }
    return shortlist.best;
  }

  #present(best: readonly Candidate[], slots: readonly number[], channels: Channels, request: RankRequest): Ranked[] {
    const { lexical, cosine, query } = channels;
    const mostWords = slots.reduce((most, slot) => Math.max(most, lexical[slot] as number), 0);
    const bestCosine = slots.reduce((most, slot) => Math.max(most, cosine[slot] as number), -1);
    let last = 1;
    return best.map(({ slot, document, parts, total, standing }): Ranked => {
      const probable = calibrate(request.tier, {
        cosine: cosine[slot] as number,
        bestCosine,
        standing: total,
        lexicalShare: mostWords === 0 ? 0 : (lexical[slot] as number) / mostWords,
      });
      last = Math.min(last, parts.name > 0 ? Math.max(probable, SURE) : probable);
      const score = Math.round(last * 1000) / 1000;
      const index = this.#index;
      return {
        document,
        score,
        warnings: standing.warnings,
        // most of what is ranked is never shown
        get why() {
          const texts: Partial<Record<Evidence, string>> = {
            words: explainWords(query, (word) => index.fieldsOf(slot, word)),
            meaning: explainMeaning(request.tier, cosine[slot] as number),
            name: parts.name > 0 ? "the query names it" : "",
            ...explainStanding(request.recordOf(document.id), request.contextTags),
          };
          return describeParts(parts, texts);
        },
      };
    });
  }
}

/** The best of many candidates: of many thousands most are let go of at once. */
class Shortlist {
  readonly #limit: number;
  #kept: Candidate[] = [];
  /** What one of them must have at least. */
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
    const sorted = this.#kept.toSorted((a, b) => b.total - a.total || (a.document.id < b.document.id ? -1 : 1));
    return sorted.slice(0, this.#limit);
  }
}

/** Whoever names something means it. */
const SURE = 0.99;

function describeParts(parts: Candidate["parts"], texts: Partial<Record<Evidence, string>>): Ranked["why"] {
  const entries = Object.entries(parts).flatMap(([name, points]): [string, EvidencePart][] => {
    const text = texts[name as Evidence] ?? "";
    return text === "" ? [] : [[name, { points: Math.round(points * 1000) / 1000, text }]];
  });
  return Object.fromEntries(entries);
}
