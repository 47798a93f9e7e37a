/** What the thread of the model is started with. */
export interface ModelPaths {
  readonly weights: string;
  readonly tokenizer: string;
  /** undefined: the model as it was published. */
  readonly adapter: string | undefined;
}

/** Some texts at a time; the answers come in the same order. */
export interface ToModel {
  readonly texts: readonly string[];
}

export type FromModel =
  | { readonly kind: "ready" }
  | { readonly kind: "vectors"; readonly vectors: readonly Float32Array[] }
  | { readonly kind: "failed"; readonly reason: string }
  /** The model could not be loaded. */
  | { readonly kind: "unusable"; readonly reason: string };
