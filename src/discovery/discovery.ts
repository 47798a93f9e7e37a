import { OWNER, type Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import { BoundedMap } from "../base/bounded-map.ts";
import type { Logger } from "../base/log.ts";
import { splitClauses } from "./clauses.ts";
import { type FoundCapability, readFoundCapabilities } from "./discovery-store.ts";
import { MAX_QUERY_PIECES } from "./document-text.ts";
import type { Embedder } from "./embedding/embedder.ts";
import type { StaticEmbedder } from "./embedding/static-embedder.ts";
import { VectorCache } from "./embedding/vector-cache.ts";
import type { Wordpiece } from "./embedding/wordpiece.ts";
import { toRecalled } from "./recall/order-recalled.ts";
import { ScopeIndex } from "./scope-index.ts";
import type { SearchAnswer, SearchDocument, SearchOptions, SearchTier } from "./search.ts";
import type { SearchPool } from "./search-pool.ts";

/** The searching principal and its scope. */
export interface Viewer {
  readonly scope: Scope;
  /** Undefined for the owner of the gateway, who sees everything. */
  readonly principal: string | undefined;
}

/** Tokeniser and word vectors, which need no model. */
export interface Language {
  readonly wordpiece: Wordpiece;
  /** Word vectors, used until the model's vectors are ready. */
  readonly lite: StaticEmbedder | undefined;
}

export interface DiscoveryOptions {
  readonly db: Db;
  /** Tools of all servers; the same array until something changes. */
  readonly tools: () => readonly SearchDocument[];
  /** Called by the first search. */
  readonly openLanguage: () => Language;
  /** Undefined if only the lite tier is configured. */
  readonly embedder: Embedder | undefined;
  readonly log: Pick<Logger, "warn">;
}

export interface IndexStatus {
  readonly tier: SearchTier;
  readonly documents: Readonly<Record<SearchDocument["kind"], number>>;
  readonly model: {
    /** `none` if only word vectors are configured. */
    readonly state: "none" | "cold" | "embedding" | "ready" | "failed";
    readonly provider?: string;
    readonly embedded: number;
    readonly waiting: number;
    readonly failure?: string;
  };
}

const MAX_RESULTS = 1000;
const MAX_CACHED_QUERIES = 200;

/** Finds tools and capabilities by intent with the evidence at hand. Never waits for a model to load. */
export class Discovery implements AsyncDisposable {
  readonly #options: DiscoveryOptions;
  readonly #indexes = new Map<string, { readonly index: ScopeIndex; readonly vectorCache: VectorCache | undefined }>();
  readonly #queries = new BoundedMap<string, Float32Array>(MAX_CACHED_QUERIES);
  #opened: Language | undefined;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  async search({ scope, principal }: Viewer, query: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    const { accept = () => true, contextTags = [], mission = false, limit = MAX_RESULTS } = options;
    const { index } = this.#open(scope);
    await index.refresh();
    this.#options.embedder?.prepare();
    const pool = index.poolOf(principal);
    const { wordpiece } = this.#language;
    const text = pool.correct(wordpiece.cut(query, MAX_QUERY_PIECES), (word) => wordpiece.isWord(word));
    const clauses = splitClauses(text);
    const { tier, vectors } = await this.#embedQuery(pool, { text, clauses, mission });
    const recordOf = (id: string): ReturnType<ScopeIndex["recordOf"]> => index.recordOf(id);
    const { usedWith } = index;
    const recollections = index.recall(principal, text);
    const recalled = toRecalled(recollections);
    const ranked = pool.rank({
      text,
      tier,
      vectors,
      clauses,
      accept,
      contextTags,
      recordOf,
      usedWith,
      recalled,
      limit,
    });
    return { ranked, searched: pool.size, tier, recollections };
  }

  /** Loads the index and starts to embed documents without a vector. */
  async warmUp({ scope, principal }: Viewer): Promise<void> {
    const { index } = this.#open(scope);
    await index.refresh();
    index.poolOf(principal);
  }

  /** Reads details of found capabilities. */
  describeCapabilities(
    { scope, principal = OWNER }: Viewer,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, FoundCapability>> {
    return readFoundCapabilities(this.#options.db, { scope, principal }, ids);
  }

  async status(viewer: Viewer): Promise<IndexStatus> {
    const { index, vectorCache } = this.#open(viewer.scope);
    await index.refresh();
    const pool = index.poolOf(viewer.principal);
    const { embedder } = this.#options;
    const count = (kind: SearchDocument["kind"]): number => pool.count(kind);
    return {
      tier: this.#tierOf(pool),
      documents: { tool: count("tool"), capability: count("capability"), skill: count("skill") },
      model: {
        state: modelState(embedder, vectorCache),
        ...(embedder === undefined ? {} : { provider: embedder.id }),
        embedded: pool.countVectors("full"),
        waiting: vectorCache?.waiting ?? 0,
        ...(vectorCache?.failure === undefined ? {} : { failure: vectorCache.failure }),
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { vectorCache } of this.#indexes.values()) vectorCache?.stop();
    await this.#options.embedder?.[Symbol.asyncDispose]();
  }

  get #language(): Language {
    return (this.#opened ??= this.#options.openLanguage());
  }

  #open(scope: Scope): { readonly index: ScopeIndex; readonly vectorCache: VectorCache | undefined } {
    const key = JSON.stringify([scope.org, scope.project]);
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const { db, tools, embedder, log } = this.#options;
    const onArrival = (keys: readonly string[]): void => opened.index.takeVectors(keys);
    const vectorCache = embedder && new VectorCache({ db, org: scope.org, embedder, log, onArrival });
    const opened = { vectorCache, index: new ScopeIndex({ db, scope, tools, ...this.#language, vectorCache }) };
    this.#indexes.set(key, opened);
    return opened;
  }

  /** `full` once the model is loaded and every document has its vector, then `lite`, then `lexical`. */
  #tierOf(pool: SearchPool): SearchTier {
    const { embedder } = this.#options;
    if (embedder?.ready === true && pool.isComplete("full")) return "full";
    return this.#language.lite === undefined ? "lexical" : "lite";
  }

  /**
   * The model embeds clauses only for missions: each costs as much as a query. Word vectors are cheap enough always.
   */
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
        log.warn({ error: String(error) }, "the model did not answer; falling back to word vectors");
      }
    }
    if (lite === undefined) return { tier: "lexical", vectors: [] };
    return { tier: "lite", vectors: [text, ...clauses].map((each) => lite.embed(each)) };
  }

  /** Caches query vectors: queries repeat with other pages or filters. */
  async #embedByModel(embedder: Embedder, texts: readonly string[]): Promise<Float32Array[]> {
    const unknown = texts.filter((text) => !this.#queries.has(text));
    const vectors = await embedder.embed(unknown, "request");
    const made = new Map(unknown.map((text, at) => [text, vectors[at] ?? new Float32Array(0)]));
    const answer = texts.map((text) => made.get(text) ?? this.#queries.get(text) ?? new Float32Array(0));
    for (const [text, vector] of made) this.#queries.set(text, vector);
    return answer;
  }
}

function modelState(
  embedder: Embedder | undefined,
  vectorCache: VectorCache | undefined,
): IndexStatus["model"]["state"] {
  if (embedder === undefined || vectorCache === undefined) return "none";
  if (vectorCache.failure !== undefined) return "failed";
  if (vectorCache.waiting > 0) return "embedding";
  return embedder.ready ? "ready" : "cold";
}
