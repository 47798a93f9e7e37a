/** Turns texts into unit vectors. The id changes whenever equal texts would get other vectors. */
export interface Embedder extends AsyncDisposable {
  readonly id: string;
  readonly dimensions: number;
  /** Returns one vector per text, in order. Requests go before background work. */
  embed(texts: readonly string[], urgency?: Urgency): Promise<Float32Array[]>;
  /** True if an answer comes at once; callers should not wait before that. */
  readonly ready: boolean;
  /** Starts loading. */
  prepare(): void;
}

/** A request has a waiting caller; background work has none. */
export type Urgency = "request" | "background";
