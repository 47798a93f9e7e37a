import { createHash } from "node:crypto";
import type { Db } from "../../db/client.ts";
import type { Logger } from "../../base/log.ts";
import type { Embedder } from "./embedder.ts";
import { readVectors, writeVectors } from "./vector-store.ts";

/** A text with its cache key. */
export interface KeyedText {
  readonly key: string;
  readonly text: string;
}

export function keyText(text: string): KeyedText {
  return { key: createHash("sha256").update(text).digest("hex").slice(0, 32), text };
}

export interface VectorCacheOptions {
  readonly db: Db;
  readonly org: string;
  readonly embedder: Embedder;
  readonly log: Pick<Logger, "warn">;
  /** Called with the keys of texts whose vectors have become available. */
  readonly onArrival: (keys: readonly string[]) => void;
}

const READ_AT_ONCE = 500;
const EMBED_AT_ONCE = 8;

/** Vectors of texts by one embedder: from memory, else from the database, else computed; always in the background. */
export class VectorCache {
  readonly #options: VectorCacheOptions;
  readonly #vectors = new Map<string, Float32Array>();
  /** Texts by key: not looked up in the database yet, and known to be missing there. */
  readonly #unread = new Map<string, string>();
  readonly #missing = new Map<string, string>();
  #working = false;
  #stopped = false;
  #failure: string | undefined;

  constructor(options: VectorCacheOptions) {
    this.#options = options;
  }

  /** Number of texts without a vector. */
  get waiting(): number {
    return this.#unread.size + this.#missing.size;
  }

  /** Set once embedding has failed for good. */
  get failure(): string | undefined {
    return this.#failure;
  }

  find(key: string): Float32Array | undefined {
    return this.#vectors.get(key);
  }

  /** Queues texts that have no vector yet. */
  want(texts: readonly KeyedText[]): void {
    for (const { key, text } of texts) {
      if (!this.#vectors.has(key) && !this.#missing.has(key)) this.#unread.set(key, text);
    }
    if (!this.#working && this.#failure === undefined && this.waiting > 0) void this.#work();
  }

  stop(): void {
    this.#stopped = true;
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (!this.#stopped && this.waiting > 0) {
        this.#options.onArrival(this.#unread.size > 0 ? await this.#read() : await this.#embed());
      }
    } catch (error) {
      if (this.#stopped) return; // at shutdown the model and the database go away first
      this.#failure = error instanceof Error ? error.message : String(error);
      this.#options.log.warn({ error: this.#failure }, "embedding failed; search continues without the model");
    } finally {
      this.#working = false;
    }
  }

  async #read(): Promise<string[]> {
    const { db, org, embedder } = this.#options;
    const some = [...this.#unread].slice(0, READ_AT_ONCE);
    const hashes = some.map(([hash]) => hash);
    const known = await readVectors(db, { org, provider: embedder.id }, hashes);
    for (const [hash, text] of some) {
      this.#unread.delete(hash);
      const vector = known.get(hash);
      if (vector === undefined) this.#missing.set(hash, text);
      else this.#vectors.set(hash, vector);
    }
    return [...known.keys()];
  }

  async #embed(): Promise<string[]> {
    const { db, org, embedder } = this.#options;
    const some = [...this.#missing].slice(0, EMBED_AT_ONCE);
    const texts = some.map(([, text]) => text);
    const vectors = await embedder.embed(texts, "background");
    const made = new Map(some.map(([hash], at) => [hash, vectors[at] ?? new Float32Array(embedder.dimensions)]));
    await writeVectors(db, { org, provider: embedder.id }, made);
    for (const [hash, vector] of made) {
      this.#missing.delete(hash);
      this.#vectors.set(hash, vector);
    }
    return [...made.keys()];
  }
}
