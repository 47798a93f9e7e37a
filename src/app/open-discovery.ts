import type { Catalogue, CatalogueTool } from "../catalogue/catalogue.ts";
import type { Scope } from "../registry/scope.ts";
import type { Config } from "../config/load-config.ts";
import { readSecret } from "../config/secret-reference.ts";
import type { Db } from "../db/client.ts";
import { Discovery, type Language } from "../discovery/discovery.ts";
import { describeParameters } from "../discovery/document-text.ts";
import type { Embedder } from "../discovery/embedding/embedder.ts";
import { createHttpEmbedder } from "../discovery/embedding/http-embedder.ts";
import { createMinilmEmbedder, tokenizerPath } from "../discovery/embedding/minilm-embedder.ts";
import { readStaticEmbedder } from "../discovery/embedding/static-embedder.ts";
import { readWordpiece } from "../discovery/embedding/wordpiece.ts";
import { createTransformersEmbedder } from "../discovery/embedding/transformers-embedder.ts";
import type { SearchDocument } from "../discovery/search.ts";
import type { Logger } from "../base/log.ts";

export interface DiscoveryParts {
  readonly config: Config;
  readonly scope: Scope;
  readonly db: Db;
  readonly tools: Catalogue;
  readonly log: Logger;
}

/** Embedding waits for a first search, or for a quiet moment after the start: it needs much time and memory. */
const WARM_UP_AFTER_MS = 60_000;

export function openDiscovery({ config, scope, db, tools, log }: DiscoveryParts): Discovery {
  const discovery = new Discovery({
    db,
    tools: memoiseDocuments(tools),
    openLanguage: () => openLanguage(log),
    embedder: createEmbedder(config),
    log,
  });
  const timer = setTimeout(() => {
    discovery.warmUp({ scope, principal: undefined }).catch((error: unknown) => {
      log.warn({ error: String(error) }, "the index could not be prepared; the next search tries again");
    });
  }, WARM_UP_AFTER_MS);
  timer.unref();
  return discovery;
}

function createEmbedder({ discovery }: Config): Embedder | undefined {
  const { tier, endpoint, transformers } = discovery;
  if (tier === "lite") return undefined;
  if (transformers !== undefined) return createTransformersEmbedder(transformers);
  if (endpoint === undefined) return createMinilmEmbedder();
  const { url, model, dimensions, apiKey } = endpoint;
  return createHttpEmbedder({ url, model, dimensions, apiKey: () => apiKey && readSecret(apiKey) });
}

/** Falls back to words alone where the table cannot be read. */
function openLanguage(log: Logger): Language {
  const wordpiece = readWordpiece(tokenizerPath);
  try {
    return { wordpiece, lite: readStaticEmbedder(wordpiece) };
  } catch (error) {
    log.warn({ error: String(error) }, "the table of word vectors cannot be read; words alone are compared");
    return { wordpiece, lite: undefined };
  }
}

/** Returns the same array until a tool changes. */
function memoiseDocuments(tools: Catalogue): () => readonly SearchDocument[] {
  let known: { readonly version: number; readonly documents: readonly SearchDocument[] } | undefined;
  return () => {
    if (known?.version !== tools.version) known = { version: tools.version, documents: tools.tools.map(describeTool) };
    return known.documents;
  };
}

function describeTool({ id, server, name, description = "", inputSchema }: CatalogueTool): SearchDocument {
  return { id, kind: "tool", server, name, description, parameters: describeParameters(inputSchema), tags: [] };
}
