import type { Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import type { Logger } from "../base/log.ts";
import { splitClauses } from "./clauses.ts";
import { type CapabilityDetails, readCapabilityDetails } from "./discovery-store.ts";
import { MOST_QUERY_PIECES } from "./document-text.ts";
import type { Embedder } from "./embedding/embedder.ts";
import type { StaticEmbedder } from "./embedding/static-embedder.ts";
import { VectorShelf } from "./embedding/vector-shelf.ts";
import type { Wordpiece } from "./embedding/wordpiece.ts";
import { ScopeIndex } from "./scope-index.ts";
import type { SearchAnswer, SearchDocument, SearchOptions, SearchTier } from "./search.ts";
import type { SearchPool } from "./search-pool.ts";

/** Who searches, and in whose memory. */
export interface Viewer {
  readonly scope: Scope;
  /** undefined: the owner of the gateway, who sees everything in it. */
  readonly principal: string | undefined;
}

/** What texts are split and compared with as long as there is nothing better. */
export interface Language {
  readonly wordpiece: Wordpiece;
  /** Vectors at once, while there are none by the model. */
  readonly lite: StaticEmbedder | undefined;
}

export interface DiscoveryOptions {
  readonly db: Db;
  /** The tools of all servers; the same array as long as nothing changed. */
  readonly tools: () => readonly SearchDocument[];
  /** Opened with the first search. */
  readonly openLanguage: () => Language;
  /** undefined: only the lite tier is wanted. */
  readonly embedder: Embedder | undefined;
  readonly log: Logger;
}

export interface IndexStatus {
  readonly tier: SearchTier;
  readonly documents: Readonly<Record<SearchDocument["kind"], number>>;
  readonly model: {
    /** none: only word vectors are wanted. */
    readonly state: "none" | "cold" | "embedding" | "ready" | "failed";
    readonly provider?: string;
    readonly embedded: number;
    readonly waiting: number;
    readonly failure?: string;
  };
}

const MOST_RESULTS = 1000;
const MOST_KEPT_QUERIES = 200;

/** Finds tools and capabilities by what they are for, with whatever evidence is at hand. It never waits for a model. */
export class Discovery implements AsyncDisposable {
  readonly #options: DiscoveryOptions;
  readonly #indexes = new Map<string, { readonly index: ScopeIndex; readonly shelf: VectorShelf | undefined }>();
  readonly #queries = new Map<string, Float32Array>();
  #opened: Language | undefined;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  async search({ scope, principal }: Viewer, query: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    const { accept = () => true, contextTags = [], mission = false, limit = MOST_RESULTS } = options;
    const { index } = this.#open(scope);
    await index.refresh();
    this.#options.embedder?.prepare();
    const pool = index.poolOf(principal);
    const { wordpiece } = this.#language;
    const text = pool.correct(wordpiece.cut(query, MOST_QUERY_PIECES), (word) => wordpiece.isWord(word));
    const clauses = splitClauses(text);
    const { tier, vectors } = await this.#embedQuery(pool, { text, clauses, mission });
    const recordOf = (id: string): ReturnType<ScopeIndex["recordOf"]> => index.recordOf(id);
    const { usedWith } = index;
    const ranked = pool.rank({ text, tier, vectors, clauses, accept, contextTags, recordOf, usedWith, limit });
    return { ranked, searched: pool.size, tier };
  }

  /** Cosines of a text with others, by word vectors: the same with and without a model. 0 without the table. */
  nearness(text: string, others: readonly string[]): number[] {
    const { lite, wordpiece } = this.#language;
    if (lite === undefined) return others.map(() => 0);
    const embed = (each: string): Float32Array => lite.embed(wordpiece.cut(each, MOST_QUERY_PIECES));
    const own = embed(text);
    return others.map((other) => embed(other).reduce((sum, value, at) => sum + value * (own[at] ?? 0), 0));
  }

  /** Reads the index and begins to embed what has no vector yet. */
  async warmUp({ scope, principal }: Viewer): Promise<void> {
    const { index } = this.#open(scope);
    await index.refresh();
    index.poolOf(principal);
  }

  /** What is shown of capabilities that were found. */
  describeCapabilities(scope: Scope, ids: readonly string[]): Promise<ReadonlyMap<string, CapabilityDetails>> {
    return readCapabilityDetails(this.#options.db, scope, ids);
  }

  async status(viewer: Viewer): Promise<IndexStatus> {
    const { index, shelf } = this.#open(viewer.scope);
    await index.refresh();
    const pool = index.poolOf(viewer.principal);
    const { embedder } = this.#options;
    const count = (kind: SearchDocument["kind"]): number => pool.count(kind);
    return {
      tier: this.#tierOf(pool),
      documents: { tool: count("tool"), capability: count("capability"), skill: count("skill") },
      model: {
        state: modelState(embedder, shelf),
        ...(embedder === undefined ? {} : { provider: embedder.id }),
        embedded: pool.countVectors("full"),
        waiting: shelf?.waiting ?? 0,
        ...(shelf?.failure === undefined ? {} : { failure: shelf.failure }),
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { shelf } of this.#indexes.values()) shelf?.stop();
    await this.#options.embedder?.[Symbol.asyncDispose]();
  }

  get #language(): Language {
    return (this.#opened ??= this.#options.openLanguage());
  }

  #open(scope: Scope): { readonly index: ScopeIndex; readonly shelf: VectorShelf | undefined } {
    const key = JSON.stringify([scope.org, scope.project]);
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const { db, tools, embedder, log } = this.#options;
    const onArrival = (keys: readonly string[]): void => opened.index.takeVectors(keys);
    const shelf = embedder && new VectorShelf({ db, org: scope.org, embedder, log, onArrival });
    const opened = { shelf, index: new ScopeIndex({ db, scope, tools, ...this.#language, shelf }) };
    this.#indexes.set(key, opened);
    return opened;
  }

  /** The model, once it is loaded and has seen everything; word vectors until then; words alone without either. */
  #tierOf(pool: SearchPool): SearchTier {
    const { embedder } = this.#options;
    if (embedder?.ready === true && pool.isComplete("full")) return "full";
    return this.#language.lite === undefined ? "lexical" : "lite";
  }

  /** Each clause costs the model as much as a query of its length; words and word vectors cost next to nothing. */
  async #embedQuery(
    pool: SearchPool,
    {
      text,
      clauses,
      mission,
    }: { readonly text: string; readonly clauses: readonly string[]; readonly mission: boolean },
  ): Promise<{ readonly tier: SearchTier; readonly vectors: readonly Float32Array[] }> {
    const { embedder, log } = this.#options;
    const { lite } = this.#language;
    if (this.#tierOf(pool) === "full" && embedder !== undefined) {
      try {
        return { tier: "full", vectors: await this.#embedByModel(embedder, mission ? [text, ...clauses] : [text]) };
      } catch (error) {
        log.warn({ error: String(error) }, "the model did not answer; word vectors are used");
      }
    }
    if (lite === undefined) return { tier: "lexical", vectors: [] };
    return { tier: "lite", vectors: [text, ...clauses].map((each) => lite.embed(each)) };
  }

  /** The same question is often asked again, with another page or filter. */
  async #embedByModel(embedder: Embedder, texts: readonly string[]): Promise<Float32Array[]> {
    const unknown = texts.filter((text) => !this.#queries.has(text));
    const vectors = await embedder.embed(unknown, "request");
    const made = new Map(unknown.map((text, at) => [text, vectors[at] ?? new Float32Array(0)]));
    const answer = texts.map((text) => made.get(text) ?? this.#queries.get(text) ?? new Float32Array(0));
    for (const [text, vector] of made) this.#queries.set(text, vector);
    for (const text of [...this.#queries.keys()].slice(0, -MOST_KEPT_QUERIES)) this.#queries.delete(text);
    return answer;
  }
}

function modelState(embedder: Embedder | undefined, shelf: VectorShelf | undefined): IndexStatus["model"]["state"] {
  if (embedder === undefined || shelf === undefined) return "none";
  if (shelf.failure !== undefined) return "failed";
  if (shelf.waiting > 0) return "embedding";
  return embedder.ready ? "ready" : "cold";
}
