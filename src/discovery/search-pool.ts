import { Bm25f, type DocumentWords, type QueryWord } from "./bm25f.ts";
import { calibrate } from "./calibration.ts";
import { type Companion, findCompanions, MOST_ASKED, type UsedWith } from "./companions.ts";
import { explainCompanion, explainMeaning, explainStanding, explainWords } from "./explain.ts";
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
  /** Left out: nothing is known to be used together. */
  readonly usedWith?: UsedWith | undefined;
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

interface Channels {
  readonly lexical: Float64Array;
  readonly cosine: Float64Array;
  readonly query: readonly QueryWord[];
}

interface Candidate {
  readonly slot: number;
  readonly document: SearchDocument;
  readonly parts: Readonly<Record<Evidence, number>>;
  readonly total: number;
  readonly standing: Standing;
  readonly companion?: Companion;
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
    const candidates = addCompanions(this.#fuse(slots, channels, request), request.usedWith);
    const best = pickBest(candidates, request.limit);
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
    for (let clause = 0; clause < clauses; clause += 1) {
      const scores = new Float64Array(size);
      score(clause, scores);
      for (let slot = 0; slot < size; slot += 1) best[slot] = Math.max(best[slot] as number, scores[slot] as number);
    }
    return whole.map((value, slot) => (1 - CLAUSE_SHARE) * value + CLAUSE_SHARE * (best[slot] as number));
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
    const candidates: Candidate[] = [];
    for (const slot of slots) {
      const hasNothing = lexical[slot] === 0 && cosine[slot] === 0 && !named.has(slot);
      const document = this.#documents[slot] as SearchDocument;
      if (hasNothing || !request.accept(document)) continue;
      const standing = judge(recordOf(document.id), contextTags);
      const parts = {
        words: weights.words * standardise(lexical[slot] as number, spreads.words),
        meaning: weights.meaning * standardise(cosine[slot] as number, spreads.meaning),
        name: named.has(slot) ? NAMED_POINTS : 0,
        record: RECORD_WEIGHT * standing.record,
        context: CONTEXT_WEIGHT * standing.context,
        graph: 0,
      };
      const total = parts.words + parts.meaning + parts.name + parts.record + parts.context;
      candidates.push({ slot, document, parts, total, standing });
    }
    return candidates;
  }

  #present(best: readonly Candidate[], slots: readonly number[], channels: Channels, request: RankRequest): Ranked[] {
    const { lexical, cosine, query } = channels;
    const mostWords = slots.reduce((most, slot) => Math.max(most, lexical[slot] as number), 0);
    const bestCosine = slots.reduce((most, slot) => Math.max(most, cosine[slot] as number), -1);
    let last = 1;
    return best.map(({ slot, document, parts, total, standing, companion }): Ranked => {
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
            graph: companion === undefined ? "" : explainCompanion(companion),
            ...explainStanding(request.recordOf(document.id), request.contextTags),
          };
          return describeParts(parts, texts);
        },
      };
    });
  }
}

/** What is used together with those that fit best gains by it, but the first stays first. */
function addCompanions(candidates: readonly Candidate[], usedWith: UsedWith | undefined): readonly Candidate[] {
  if (usedWith === undefined) return candidates;
  const best = pickBest(candidates, MOST_ASKED).map(({ document: { id }, total }) => ({ id, total }));
  const most = best[0]?.total ?? 0;
  const companions = findCompanions(best, usedWith);
  if (companions.size === 0) return candidates;
  return candidates.map((candidate) => {
    const companion = companions.get(candidate.document.id);
    const graph = Math.min(companion?.points ?? 0, most - BEHIND - candidate.total);
    if (companion === undefined || graph <= 0) return candidate;
    return { ...candidate, parts: { ...candidate.parts, graph }, total: candidate.total + graph, companion };
  });
}

const BEHIND = 0.001;

/** Best first. Only what is among the best is sorted: of many thousands most are not. */
function pickBest(candidates: readonly Candidate[], limit: number): Candidate[] {
  const totals = Float64Array.from(candidates, ({ total }) => total).toSorted();
  const least = totals[totals.length - limit] ?? -Infinity;
  const best = candidates.filter(({ total }) => total >= least);
  const sorted = best.toSorted((a, b) => b.total - a.total || (a.document.id < b.document.id ? -1 : 1));
  return sorted.slice(0, limit);
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
