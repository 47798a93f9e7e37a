import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setEngineFlags } from "../../src/base/engine-flags.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import { Discovery, type Language, type Viewer } from "../../src/discovery/discovery.ts";
import type { Embedder } from "../../src/discovery/embedding/embedder.ts";
import { createMinilmEmbedder, tokenizerPath } from "../../src/discovery/embedding/minilm-embedder.ts";
import { readStaticEmbedder } from "../../src/discovery/embedding/static-embedder.ts";
import { readWordpiece } from "../../src/discovery/embedding/wordpiece.ts";
import { splitClauses } from "../../src/discovery/clauses.ts";
import { countWords } from "../../src/discovery/bm25f.ts";
import type { SearchDocument } from "../../src/discovery/search.ts";
import { SearchPool } from "../../src/discovery/search-pool.ts";
import { createLogger } from "../../src/base/log.ts";
import { cacheVectors } from "./vector-cache.ts";

/** The gateway's search over its own database. */
export interface DiscoveryScene extends AsyncDisposable {
  readonly client: DatabaseClient;
  readonly language: Language;
  /** The model, with vectors cached on disk between benchmarks. */
  readonly model: Embedder;
  /** Returns ids by words alone, as the product ranks without vectors. */
  createLexical(documents: readonly SearchDocument[]): (text: string, limit: number) => string[];
  createDiscovery(documents: readonly SearchDocument[], embedder: Embedder | undefined): Discovery;
}

/** A request to a pool without vectors. */
export const byWordsAlone = {
  tier: "lexical",
  vectors: [],
  contextTags: [],
  accept: () => true,
  recordOf: () => undefined,
} as const;

export async function openScene(): Promise<DiscoveryScene> {
  setEngineFlags();
  await using opening = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), "pml-bench-discovery-"));
  opening.defer(() => rm(home, { recursive: true, force: true }));
  const ownership = opening.use(acquireOwnership(home));
  const client = opening.use(await openEmbedded(ownership));
  await migrate(client.db);
  const wordpiece = readWordpiece(tokenizerPath);
  const language = { wordpiece, lite: readStaticEmbedder(wordpiece) };
  const model = opening.use(cacheVectors(createMinilmEmbedder()));
  const log = createLogger({ level: "warn", file: undefined, secrets: [] });
  const open = opening.move();
  return {
    client,
    language,
    model,
    createLexical(documents) {
      const pool = new SearchPool();
      for (const document of documents) pool.add({ document, words: countWords(document) });
      return (query, limit) => {
        const text = pool.correct(query, (word) => wordpiece.isWord(word));
        return pool
          .rank({ ...byWordsAlone, text, clauses: splitClauses(text), limit })
          .map(({ document }) => document.id);
      };
    },
    createDiscovery: (documents, embedder) =>
      new Discovery({ db: client.db, tools: () => documents, openLanguage: () => language, embedder, log }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Keeps a discovery from disposing of the embedder, which the scene owns. */
export function withoutDispose(embedder: Embedder): Embedder {
  const { id, dimensions, ready } = embedder;
  return {
    id,
    dimensions,
    ready,
    embed: (texts, urgency) => embedder.embed(texts, urgency),
    prepare: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Waits until every document has its vector. */
export async function embedAll(discovery: Discovery, viewer: Viewer, signal: AbortSignal): Promise<void> {
  await discovery.warmUp(viewer);
  while ((await discovery.status(viewer)).model.waiting > 0) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
