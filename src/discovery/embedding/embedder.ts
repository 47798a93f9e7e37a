/** Texts to vectors of length 1. The id changes whenever equal texts would get other vectors. */
export interface Embedder extends AsyncDisposable {
  readonly id: string;
  readonly dimensions: number;
  /** One vector a text, in the order of the texts. Those of requests go before those of documents. */
  embed(texts: readonly string[], urgency?: Urgency): Promise<Float32Array[]>;
  /** Whether an answer comes at once; until then nobody should wait for one. */
  readonly ready: boolean;
  /** Begins what has to be done before that. */
  prepare(): void;
}

/** Somebody waits for it, or nobody does. */
export type Urgency = "request" | "background";

export function normalise(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
  return vector.map((value) => value * scale);
}
