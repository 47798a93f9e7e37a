import { formatCapabilityId } from "../catalogue/tool-id.ts";
import { setImmediate } from "node:timers/promises";
import type { Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import { countWords } from "./bm25f.ts";
import { sharesOf, type UsedWith } from "./companions.ts";
import {
  type CapabilityDocumentRow,
  listCapabilityDocuments,
  readScopeChanges,
  type ScopeChanges,
} from "./discovery-store.ts";
import { describeParameters, MAX_DOCUMENT_PIECES, toEmbeddedText } from "./document-text.ts";
import type { StaticEmbedder } from "./embedding/static-embedder.ts";
import { type KeyedText, keyText, type VectorCache } from "./embedding/vector-cache.ts";
import type { Wordpiece } from "./embedding/wordpiece.ts";
import { CapabilityMemory, type ListedCapability, type Recollection, type View } from "./recall/capability-memory.ts";
import { learnedVector, MAX_INTENTS, typicalIntent } from "./learned-vector.ts";
import type { SearchDocument } from "./search.ts";
import { type PreparedDocument, SearchPool, type VectorTier } from "./search-pool.ts";
import type { Tally, TrackRecord } from "./track-record.ts";

export interface ScopeIndexOptions {
  readonly db: Db;
  readonly scope: Scope;
  /** Tools of all servers; the same array until something changes. */
  readonly tools: () => readonly SearchDocument[];
  readonly wordpiece: Wordpiece;
  readonly lite: StaticEmbedder | undefined;
  /** Source of the model's vectors; undefined without a model. */
  readonly vectorCache: VectorCache | undefined;
}

interface IndexedDocument extends PreparedDocument {
  readonly text: KeyedText;
  /** Owner of a private document; undefined if everyone may see it. */
  readonly owner: string | undefined;
}

const EVERYTHING = "*";
const SHARED = "";

function isIn({ owner }: IndexedDocument, pool: string): boolean {
  return owner === undefined || pool === EVERYTHING || (owner !== SHARED && owner === pool);
}

/** After that many changes everything is read for a while: reads overlap, and to pick out many subjects takes longer. */
const MANY_CHANGES = 1_000;
const READ_ALL_MS = 30_000;

/** Documents prepared before yielding to the event loop. */
const PREPARED_AT_ONCE = 100;

/** Everything findable in one scope, mirrored from the database, with a pool per distinct view of it. */
export class ScopeIndex {
  readonly #options: ScopeIndexOptions;
  readonly #entries = new Map<string, IndexedDocument>();
  readonly #records = new Map<string, { total: Tally; tags: Map<string, Tally> }>();
  readonly #intents = new Map<string, readonly KeyedText[]>();
  /** Runs that used both tools, by either id. */
  readonly #pairs = new Map<string, Map<string, number>>();
  /** Pools by principal; `SHARED` holds only common documents, `EVERYTHING` all of them for the owner. */
  readonly #pools = new Map<string, SearchPool>();
  /** Principals with private documents. */
  #owners: ReadonlySet<string | undefined> = new Set();
  /** Common direction of requests, by tier. */
  #typical: Readonly<Record<VectorTier, Float32Array | undefined>> = { full: undefined, lite: undefined };
  readonly #liteIntents = new Map<string, Float32Array>();
  /** Documents that wait for a text's vector, by its key. */
  readonly #awaiting = new Map<string, Set<string>>();
  /** Undefined without word vectors. */
  readonly #memory: CapabilityMemory | undefined;
  #tools: readonly SearchDocument[] | undefined;
  #version = -1;
  #readAt: Date | undefined;
  #readAllUntil = 0;
  #refreshing: Promise<void> | undefined;

  constructor(options: ScopeIndexOptions) {
    this.#options = options;
    const { db, scope, wordpiece, lite } = options;
    const toolText = (id: string): string | undefined => this.#entries.get(id)?.text.text;
    this.#memory = lite && new CapabilityMemory({ db, scope, wordpiece, lite, toolText });
  }

  /** Applies changes from the database; concurrent calls share one refresh. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  recordOf(id: string): TrackRecord | undefined {
    const known = this.#records.get(id);
    return known && { ...known.total, tags: known.tags };
  }

  /** Undefined until two tools have been used together. */
  get usedWith(): UsedWith | undefined {
    if (this.#pairs.size === 0) return undefined;
    return (id) => sharesOf(this.#pairs, id, this.#records.get(id)?.total.uses ?? 0);
  }

  /** Evidence from past intents about each capability that a principal may see. */
  recall(principal: string | undefined, intent: string): ReadonlyMap<string, Recollection> {
    const found = this.#memory?.recall(intent, this.#viewOf(principal)) ?? [];
    return new Map(found.map((each) => [each.id, each]));
  }

  #viewOf(principal: string | undefined): View {
    const key = this.#keyOf(principal);
    const includes = (id: string): boolean => {
      const entry = this.#entries.get(id);
      return entry !== undefined && isIn(entry, key);
    };
    return { key, includes };
  }

  #keyOf(principal: string | undefined): string {
    return principal === undefined ? EVERYTHING : this.#owners.has(principal) ? principal : SHARED;
  }

  /** Pool of the documents a principal may see. */
  poolOf(principal: string | undefined): SearchPool {
    const key = this.#keyOf(principal);
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const pool = new SearchPool();
    this.#pools.set(key, pool);
    for (const entry of this.#entries.values()) this.#put(entry, key, pool);
    return pool;
  }

  /** Applies vectors that have arrived from the model. */
  takeVectors(keys: readonly string[]): void {
    const changed = new Set(keys.flatMap((key) => [...(this.#awaiting.get(key) ?? [])]));
    for (const key of keys) this.#awaiting.delete(key);
    const intents = new Set([...this.#intents.values()].flat().map(({ key }) => key));
    if (keys.some((key) => intents.has(key))) this.#relearn();
    for (const id of changed) {
      const entry = this.#entries.get(id);
      if (entry !== undefined) this.#putEverywhere(entry);
    }
  }

  async #refresh(): Promise<void> {
    const { db, scope, tools } = this.#options;
    const since = Date.now() < this.#readAllUntil ? undefined : this.#readAt;
    const changes = await readScopeChanges(db, scope, { since, intentsKept: MAX_INTENTS });
    if (changes.intents.length > MANY_CHANGES && Date.now() >= this.#readAllUntil)
      this.#readAllUntil = Date.now() + READ_ALL_MS;
    const current = tools();
    if (changes.version !== this.#version || current !== this.#tools) {
      const rows = await listCapabilityDocuments(db, scope);
      await this.#replaceDocuments([
        ...current.map((document) => ({ document, owner: undefined })),
        ...rows.map((row) => ({ document: describeCapability(row), owner: row.owner })),
      ]);
      await this.#memory?.refresh(rows.map(listCapability));
      this.#tools = current;
      this.#version = changes.version;
      this.#relearn();
    } else await this.#memory?.refresh(undefined);
    this.#learn(changes);
    this.#readAt = changes.readAt;
  }

  async #replaceDocuments(
    wanted: readonly { readonly document: SearchDocument; readonly owner: string | undefined }[],
  ): Promise<void> {
    const gone = new Set(this.#entries.keys());
    let prepared = 0;
    for (const { document, owner } of wanted) {
      gone.delete(document.id);
      const known = this.#entries.get(document.id);
      if (known !== undefined && known.owner === owner && isSame(known.document, document)) continue;
      this.#add(document, owner);
      prepared += 1;
      if (prepared % PREPARED_AT_ONCE === 0) await setImmediate();
    }
    for (const id of gone) this.#remove(id);
    this.#owners = new Set(wanted.map(({ owner }) => owner));
  }

  #add(document: SearchDocument, owner: string | undefined): void {
    this.#remove(document.id);
    const text = keyText(this.#options.wordpiece.cut(toEmbeddedText(document), MAX_DOCUMENT_PIECES));
    const entry: IndexedDocument = { document, owner, text, words: countWords(document) };
    this.#entries.set(document.id, entry);
    for (const [key, pool] of this.#pools) this.#put(entry, key, pool);
    this.#awaitVector(entry);
  }

  #remove(id: string): void {
    this.#entries.delete(id);
    for (const pool of this.#pools.values()) pool.remove(id);
  }

  #put(entry: IndexedDocument, key: string, pool: SearchPool): void {
    if (!isIn(entry, key)) return;
    pool.add(entry);
    this.#putVectors(entry, pool);
  }

  #putVectors(entry: IndexedDocument, pool: SearchPool): void {
    const { lite } = this.#options;
    const { id } = entry.document;
    if (lite !== undefined) {
      const intents = (this.#intents.get(id) ?? []).map((intent) => this.#liteIntent(lite, intent));
      pool.setVector("lite", id, learnedVector(lite.embed(entry.text.text), intents, this.#typical.lite));
    }
    const known = this.#modelVector(entry);
    if (known !== undefined) pool.setVector("full", id, known);
  }

  #putEverywhere(entry: IndexedDocument): void {
    for (const [key, pool] of this.#pools) if (isIn(entry, key)) this.#putVectors(entry, pool);
  }

  #liteIntent(lite: StaticEmbedder, { key, text }: KeyedText): Float32Array {
    const known = this.#liteIntents.get(key) ?? lite.embed(text);
    this.#liteIntents.set(key, known);
    return known;
  }

  /** Uses the intents that have vectors so far; later ones move it again. */
  #modelVector({ text, document }: IndexedDocument): Float32Array | undefined {
    const { vectorCache } = this.#options;
    const own = vectorCache?.find(text.key);
    if (own === undefined) return undefined;
    const intents = (this.#intents.get(document.id) ?? []).flatMap(({ key }) => vectorCache?.find(key) ?? []);
    return learnedVector(own, intents, this.#typical.full);
  }

  /** Recomputes learned vectors: new intents change the common direction, and with it every moved vector. */
  #relearn(): void {
    const { lite, vectorCache } = this.#options;
    const learned = [...this.#entries.values()].filter(({ document }) => this.#intents.has(document.id));
    // Only shared documents count: private ones must not influence other principals' results.
    const shared = learned.filter(({ owner }) => owner === undefined);
    const intents = shared.flatMap(({ document }) => this.#intents.get(document.id) ?? []);
    this.#typical = {
      lite: lite && typicalIntent(intents.map((intent) => this.#liteIntent(lite, intent))),
      full: typicalIntent(intents.flatMap(({ key }) => vectorCache?.find(key) ?? [])),
    };
    for (const entry of learned) this.#putEverywhere(entry);
  }

  #awaitVector({ document, text }: IndexedDocument): void {
    const { vectorCache } = this.#options;
    if (vectorCache === undefined) return;
    const wanted = [text, ...(this.#intents.get(document.id) ?? [])].filter(
      ({ key }) => vectorCache.find(key) === undefined,
    );
    for (const { key } of wanted) {
      const waiting = this.#awaiting.get(key);
      if (waiting === undefined) this.#awaiting.set(key, new Set([document.id]));
      else waiting.add(document.id);
    }
    vectorCache.want(wanted);
  }

  #learn({ tallies, intents, pairs }: ScopeChanges): void {
    for (const { one, other, runs } of pairs) {
      this.#pair(one, other, runs);
      this.#pair(other, one, runs);
    }
    for (const { subject, tag, uses, successes } of tallies) {
      const known = this.#records.get(subject) ?? { total: { uses: 0, successes: 0 }, tags: new Map<string, Tally>() };
      if (tag === "") known.total = { uses, successes };
      else known.tags.set(tag, { uses, successes });
      this.#records.set(subject, known);
    }
    let changed = false;
    for (const { subject, intents: texts } of intents) {
      if (
        isSame(
          (this.#intents.get(subject) ?? []).map(({ text }) => text),
          texts,
        )
      )
        continue;
      this.#intents.set(subject, texts.map(keyText));
      changed = true;
      const entry = this.#entries.get(subject);
      if (entry !== undefined) this.#awaitVector(entry);
    }
    if (changed) this.#relearn();
  }

  /** One run may connect a pair by several edges, so the maximum over them counts. */
  #pair(one: string, other: string, runs: number): void {
    const known = this.#pairs.get(one) ?? new Map<string, number>();
    known.set(other, Math.max(known.get(other) ?? 0, runs));
    this.#pairs.set(one, known);
  }
}

/** A capability without a group is one of its own: variants that come later take its id as their group. */
function listCapability(row: CapabilityDocumentRow): ListedCapability {
  return { ...row, id: formatCapabilityId(row.id), group: row.group ?? row.id };
}

function describeCapability(row: CapabilityDocumentRow): SearchDocument {
  return {
    id: formatCapabilityId(row.id),
    kind: "capability",
    server: row.namespace,
    name: row.name,
    description: row.description,
    parameters: describeParameters(row.parameters),
    tags: row.tags,
  };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
