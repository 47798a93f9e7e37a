import { createServer, type IncomingMessage } from "node:http";
import { text as readAll } from "node:stream/consumers";
import type { AddressInfo } from "node:net";

/** An OpenAI-compatible endpoint for embeddings: equal words, equal directions. */
export interface EmbeddingServer extends AsyncDisposable {
  readonly url: string;
  /** Texts of all requests, in order. */
  readonly texts: readonly string[];
  readonly keys: ReadonlySet<string | undefined>;
  /** Makes every later request fail. */
  fail(): void;
}

export const EMBEDDING_DIMENSIONS = 64;

export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const texts: string[] = [];
  const keys = new Set<string | undefined>();
  let failing = false;
  const answer = async (request: IncomingMessage): Promise<unknown> => {
    const { input } = JSON.parse(await readAll(request)) as { input: string[] };
    keys.add(request.headers.authorization);
    texts.push(...input);
    return { data: input.map((text, index) => ({ index, embedding: embedWords(text) })) };
  };
  const server = createServer((request, response) => {
    if (failing) {
      response.writeHead(500).end("the key was abc");
      return;
    }
    answer(request).then(
      (value) => response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(value)),
      () => response.writeHead(400).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    texts,
    keys,
    fail: () => void (failing = true),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function embedWords(text: string): number[] {
  const vector = Array.from({ length: EMBEDDING_DIMENSIONS }, () => 0.01);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    let hash = 7;
    for (const letter of word) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 9973;
    const place = hash % EMBEDDING_DIMENSIONS;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}
