import { type Embedder, normalise } from "./embedder.ts";

export interface HttpEmbedderOptions {
  /** Base address: `/embeddings` is added. */
  readonly url: string;
  readonly model: string;
  readonly dimensions: number;
  /** Read for each request, so that a changed one counts at once. */
  readonly apiKey: () => string | undefined;
}

const TEXTS_AT_ONCE = 23;
const LONGEST_MS = 30_000;
/** After a failure nobody waits for it again for this long. */
const PAUSE_MS = 30_000;

interface Answer {
  readonly data?: readonly { readonly index?: number; readonly embedding?: readonly number[] }[];
}

/** A model behind an OpenAI-compatible address, as OpenAI, Ollama and many others have it. */
export function createHttpEmbedder(options: HttpEmbedderOptions): Embedder {
  const { url, model, dimensions } = options;
  let failedAt = -Infinity;
  const embed = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += TEXTS_AT_ONCE)
      vectors.push(...(await request(options, texts.slice(at, at + TEXTS_AT_ONCE))));
    return vectors;
  };
  return {
    id: `${new URL(url).host}/${model}/${dimensions}`,
    dimensions,
    get ready() {
      return performance.now() - failedAt > PAUSE_MS;
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
    signal: AbortSignal.timeout(LONGEST_MS),
  });
  // The body may have anything in it, the key included.
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status} to a request for embeddings`);
  const { data = [] } = (await response.json()) as Answer;
  return input.map((_, at) => {
    const vector = (data.find(({ index }) => index === at) ?? data[at])?.embedding;
    if (vector?.length === dimensions) return normalise(Float32Array.from(vector));
    const found = vector === undefined ? "none" : `one of ${vector.length} numbers`;
    throw new Error(`${model} should give a vector of ${dimensions} numbers for each text and gave ${found}`);
  });
}
