/** What the thread of the model that ships with PML is started with. */
export interface ModelPaths {
  readonly weights: string;
  readonly weightsHash: string;
  readonly tokenizer: string;
  /** undefined: the model as it was published. */
  readonly adapter: string | undefined;
}

/** What the thread of another model is started with. */
export interface TransformersModel {
  /** Where `@huggingface/transformers` is installed: the folder that has `node_modules` in it. */
  readonly folder: string;
  readonly model: string;
  readonly dimensions: number;
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
