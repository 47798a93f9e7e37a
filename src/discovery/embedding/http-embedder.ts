import type { Embedder } from "./embedder.ts";
import { normalise } from "./encoder/unit-vector.ts";

export interface HttpEmbedderOptions {
  /** Base URL; `/embeddings` is appended. */
  readonly url: string;
  readonly model: string;
  readonly dimensions: number;
  /** Read for each request, so that a changed key applies at once. */
  readonly apiKey: () => string | undefined;
}

const BATCH_SIZE = 23;
const TIMEOUT_MS = 30_000;
/** Back-off after a failure, during which the embedder is not ready. */
const BACKOFF_MS = 30_000;

interface EmbeddingsResponse {
  readonly data?: readonly { readonly index?: number; readonly embedding?: readonly number[] }[];
}

/** Embeds through an OpenAI-compatible API, such as OpenAI's or Ollama's. */
export function createHttpEmbedder(options: HttpEmbedderOptions): Embedder {
  const { url, model, dimensions } = options;
  let failedAt = -Infinity;
  const embed = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += BATCH_SIZE)
      vectors.push(...(await request(options, texts.slice(at, at + BATCH_SIZE))));
    return vectors;
  };
  return {
    id: `${new URL(url).host}/${model}/${dimensions}`,
    dimensions,
    get ready() {
      return performance.now() - failedAt > BACKOFF_MS;
    },
    prepare: () => undefined,
    async embed(texts) {
      try {
        return await embed(texts);
      } catch (error) {
        failedAt = performance.now();
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function request(options: HttpEmbedderOptions, input: readonly string[]): Promise<Float32Array[]> {
  const { url, model, dimensions, apiKey } = options;
  const key = apiKey();
  const response = await fetch(`${url.replace(/\/$/, "")}/embeddings`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, input }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  // Leaves the body out of the message: it may contain anything, even the key.
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status} to a request for embeddings`);
  const { data = [] } = (await response.json()) as EmbeddingsResponse;
  return input.map((_, at) => {
    const vector = (data.find(({ index }) => index === at) ?? data[at])?.embedding;
    if (vector?.length === dimensions) return normalise(Float32Array.from(vector));
    const found = vector === undefined ? "none" : `one of ${vector.length} numbers`;
    throw new Error(`${model} should give a vector of ${dimensions} numbers for each text and gave ${found}`);
  });
}
