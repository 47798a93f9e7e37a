/** Start data for the thread of the shipped model. */
export interface ModelPaths {
  readonly weights: string;
  readonly weightsHash: string;
  readonly tokenizer: string;
  /** Undefined for the model as published. */
  readonly adapter: string | undefined;
}

/** Start data for the thread of a transformers.js model. */
export interface TransformersModel {
  /** Folder whose `node_modules` contains `@huggingface/transformers`. */
  readonly folder: string;
  readonly model: string;
  readonly dimensions: number;
}

/** A batch of texts; the vectors come back in the same order. */
export interface ToModel {
  readonly texts: readonly string[];
}

export type FromModel =
  | { readonly kind: "ready" }
  | { readonly kind: "vectors"; readonly vectors: readonly Float32Array[] }
  | { readonly kind: "failed"; readonly reason: string }
  /** Loading the model failed. */
  | { readonly kind: "unusable"; readonly reason: string };
