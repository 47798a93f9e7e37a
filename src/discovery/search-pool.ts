import { Bm25f, type DocumentWords, type QueryWord } from "./bm25f.ts";
import { calibrate } from "./calibration.ts";
import { findCompanions, type UsedWith } from "./companions.ts";
import { describeParts, explainCompanion, explainMeaning, explainStanding, explainWords } from "./explain.ts";
import { Finders } from "./finders.ts";
import { givenKeys, nameKeys } from "./named.ts";
import { toQueryWords } from "./query.ts";
import type { Evidence, Ranked, SearchDocument, SearchTier } from "./search.ts";
import { type Candidate, Shortlist } from "./shortlist.ts";
import { measureSpread, type Spread, standardise } from "./spread.ts";
import { orderRecalled, type Recalled } from "./recall/order-recalled.ts";
import { judge, type TrackRecord } from "./track-record.ts";
import { VectorMatrix } from "./vector-matrix.ts";
import { Vocabulary } from "./vocabulary.ts";

/** A document with its word counts. */
export interface PreparedDocument {
  readonly document: SearchDocument;
  readonly words: DocumentWords;
}

/** Tiers that have vectors. */
export type VectorTier = Exclude<SearchTier, "lexical">;

export interface RankRequest {
  readonly text: string;
  readonly tier: SearchTier;
  /** Vector of the text, then those of its clauses if requested; empty in the lexical tier. */
  readonly vectors: readonly Float32Array[];
  /** Steps of the text. */
  readonly clauses: readonly string[];
  readonly accept: (document: SearchDocument) => boolean;
  readonly contextTags: readonly string[];
  readonly recordOf: (id: string) => TrackRecord | undefined;
  /** Undefined if no joint use is known. */
  readonly usedWith?: UsedWith | undefined;
  /** Evidence from past intents, for capabilities. */
  readonly recalled?: Recalled | undefined;
  readonly limit: number;
}

/** Weights of lexical and vector evidence by tier. */
const WEIGHTS: Readonly<Record<SearchTier, { readonly words: number; readonly meaning: number }>> = {
  full: { words: 0.2, meaning: 0.8 },
  lite: { words: 0.3, meaning: 0.7 },
  lexical: { words: 1, meaning: 0 },
};
/** Weight that moves from words to vectors if clauses have vectors. */
const CLAUSES_SHIFT = 0.05;
const CLAUSE_SHARE = 0.3;
/** In standard deviations: record and context settle near ties, a given name settles everything. */
const RECORD_WEIGHT = 0.3;
const CONTEXT_WEIGHT = 0.6;
const NAMED_POINTS = 3;
/** Candidates considered at least, so that the order by past intents can bring up what is behind the limit. */
const FEWEST_ORDERED = 50;
/** Upper bound of the points from record and context. */
const MAX_STANDING = 0.5;
/** Number of top candidates whose prerequisites and companions count. */
const LEADERS = 5;
/** How far a finder moves up towards the tool that needs it. */
const FINDER_SHARE = 0.7;
/** Connected candidates stay behind the first by this much. */
const BEHIND_LEADER = 0.001;

interface ChannelScores {
  readonly lexical: Float64Array;
  readonly cosine: Float64Array;
  readonly query: readonly QueryWord[];
  readonly spreads: Readonly<Record<"words" | "meaning", Spread>>;
}

interface Scorers {
  /** Points from words, meaning and name. */
  readonly fit: (slot: number) => number;
  readonly weigh: (slot: number) => Candidate;
}

/** Documents that one viewer may find, and nothing else, ranked by all evidence. */
export class SearchPool {
  readonly #index = new Bm25f();
  readonly #vocabulary = new Vocabulary();
  readonly #finders = new Finders();
  readonly #words: (DocumentWords | undefined)[] = [];
  readonly #documents: (SearchDocument | undefined)[] = [];
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  /** Occupied slots; collected again after a change. */
  #used: readonly number[] | undefined;
  /** Slots by normalised name. */
  readonly #names = new Map<string, Set<number>>();
  readonly #matrices: Record<VectorTier, VectorMatrix | undefined> = { full: undefined, lite: undefined };
  /** Slots with a vector. */
  readonly #filled: Readonly<Record<VectorTier, Set<number>>> = { full: new Set(), lite: new Set() };

  get size(): number {
    return this.#slots.size;
  }

  count(kind: SearchDocument["kind"]): number {
    return this.#documents.filter((document) => document?.kind === kind).length;
  }

  /** Replaces a document with the same id. */
  add({ document, words }: PreparedDocument): void {
    this.remove(document.id);
    const slot = this.#free.pop() ?? this.#documents.length;
    this.#documents[slot] = document;
    this.#slots.set(document.id, slot);
    this.#used = undefined;
    this.#words[slot] = words;
    this.#index.add(slot, words);
    this.#vocabulary.add(words.plain);
    this.#finders.add(slot, document);
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
    this.#used = undefined;
    const document = this.#documents[slot] as SearchDocument;
    for (const key of nameKeys(document)) this.#names.get(key)?.delete(slot);
    this.#finders.remove(slot, document);
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

  /** True if every document has a vector in this tier. */
  isComplete(tier: VectorTier): boolean {
    return this.#filled[tier].size === this.#slots.size;
  }

  countVectors(tier: VectorTier): number {
    return this.#filled[tier].size;
  }

  /** Corrects words that the pool's vocabulary shows to be mistyped. */
  correct(text: string, isEnglish: (word: string) => boolean): string {
    return this.#vocabulary.correct(text, isEnglish);
  }

  rank(request: RankRequest): Ranked[] {
    // Standardises over all documents, so that a filter does not change scores.
    const slots = (this.#used ??= [...this.#slots.values()]);
    const channels = this.#score(slots, request);
    const best = this.#fuse(slots, channels, request);
    return this.#present(best, channels, request);
  }

  #score(slots: readonly number[], request: RankRequest): ChannelScores {
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
    const spreads = { words: measureSpread(lexical, slots), meaning: measureSpread(cosine, slots) };
    return { lexical, cosine, query, spreads };
  }

  /** Blends the score of the whole text (-1) with the best score among its clauses. */
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

  #fuse(slots: readonly number[], channels: ChannelScores, request: RankRequest): Candidate[] {
    const { lexical, cosine } = channels;
    const named = new Set(givenKeys(request.text).flatMap((key) => [...(this.#names.get(key) ?? [])]));
    const { fit, weigh } = this.#createScorers(channels, named, request);
    const leaders = new Shortlist(LEADERS);
    const accepted = new Shortlist(Math.max(request.limit, FEWEST_ORDERED));
    for (const slot of slots) {
      if (lexical[slot] === 0 && cosine[slot] === 0 && !named.has(slot)) continue;
      // skips candidates that record and context cannot lift onto either list
      if (fit(slot) + MAX_STANDING < Math.min(leaders.least, accepted.least)) continue;
      const candidate = weigh(slot);
      leaders.offer(candidate);
      if (request.accept(candidate.document)) accepted.offer(candidate);
    }
    const connected = this.#connect(leaders.best, weigh, request.usedWith);
    return accepted.bestWith(connected.filter(({ document }) => request.accept(document)));
  }

  #createScorers(
    { lexical, cosine, spreads }: ChannelScores,
    named: ReadonlySet<number>,
    { tier, vectors, contextTags, recordOf, recalled }: RankRequest,
  ): Scorers {
    const shift = vectors.length > 1 ? CLAUSES_SHIFT : 0;
    const weights = { words: WEIGHTS[tier].words - shift, meaning: WEIGHTS[tier].meaning + shift };
    const words = (slot: number): number => weights.words * standardise(lexical[slot] as number, spreads.words);
    const meaning = (slot: number): number => weights.meaning * standardise(cosine[slot] as number, spreads.meaning);
    const name = (slot: number): number => (named.has(slot) ? NAMED_POINTS : 0);
    const intents = (slot: number): number => recalled?.pointsOf((this.#documents[slot] as SearchDocument).id) ?? 0;
    const fit = (slot: number): number => words(slot) + meaning(slot) + name(slot) + intents(slot);
    const weigh = (slot: number): Candidate => {
      const document = this.#documents[slot] as SearchDocument;
      const standing = judge(recordOf(document.id), contextTags);
      const record = RECORD_WEIGHT * standing.record;
      const context = CONTEXT_WEIGHT * standing.context;
      const fits = { words: words(slot), meaning: meaning(slot), name: name(slot), intents: intents(slot) };
      const parts = { ...fits, record, context, graph: 0 };
      return { slot, document, parts, total: fit(slot) + record + context, standing };
    };
    return { fit, weigh };
  }

  /** Lifts prerequisites and companions of the leaders to places behind them. */
  #connect(
    leaders: readonly Candidate[],
    weigh: (slot: number) => Candidate,
    usedWith: UsedWith | undefined,
  ): Candidate[] {
    const connected = new Map<number, Candidate>();
    const connect = (candidate: Candidate, points: number, connection: string): void => {
      const graph = Math.min(points, (leaders[0]?.total ?? 0) - BEHIND_LEADER - candidate.total);
      if (graph <= (connected.get(candidate.slot)?.parts.graph ?? 0)) return;
      const parts = { ...candidate.parts, graph };
      connected.set(candidate.slot, { ...candidate, parts, total: candidate.total + graph, connection });
    };
    for (const leader of leaders) {
      for (const { slot, thing } of this.#finders.findersFor(leader.slot)) {
        const candidate = weigh(slot);
        const points = FINDER_SHARE * (leader.total - candidate.total);
        connect(candidate, points, `finds the ${thing} that ${leader.document.name} needs`);
      }
    }
    for (const [id, companion] of usedWith === undefined ? [] : findCompanions(leaders, usedWith)) {
      const slot = this.#slots.get(id);
      if (slot !== undefined) connect(weigh(slot), companion.points, explainCompanion(companion));
    }
    return [...connected.values()];
  }

  #present(best: readonly Candidate[], channels: ChannelScores, request: RankRequest): Ranked[] {
    const { lexical, cosine, query, spreads } = channels;
    const [mostWords, bestCosine] = [spreads.words.most, spreads.meaning.most];
    let last = 1;
    const scores = best.map(({ slot, parts, total }): number => {
      const probable = calibrate(request.tier, {
        cosine: cosine[slot] as number,
        bestCosine,
        standing: total,
        lexicalShare: mostWords === 0 ? 0 : (lexical[slot] as number) / mostWords,
      });
      last = Math.min(last, parts.name > 0 ? Math.max(probable, NAMED_SCORE) : probable);
      return Math.round(last * 1000) / 1000;
    });
    const ordered = orderRecalled(best, request.recalled).slice(0, request.limit);
    return ordered.map(({ slot, document, parts, standing, connection = "" }, place): Ranked => {
      const index = this.#index;
      return {
        document,
        score: scores[place] as number,
        warnings: standing.warnings,
        // lazy: most ranked documents are never shown
        get why() {
          const texts: Partial<Record<Evidence, string>> = {
            words: explainWords(query, (word) => index.fieldsOf(slot, word)),
            meaning: explainMeaning(request.tier, cosine[slot] as number),
            name: parts.name > 0 ? "the query names it" : "",
            intents: request.recalled?.explain(document.id) ?? "",
            graph: connection,
            ...explainStanding(request.recordOf(document.id), request.contextTags),
          };
          return describeParts(parts, texts);
        },
      };
    });
  }
}

/** Minimum score of a document that the query names. */
const NAMED_SCORE = 0.99;
