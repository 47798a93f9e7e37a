import type { ModelManifest } from "@lat.md/embed";

/** What the thread of the model is started with. */
export interface ModelPaths {
  readonly manifest: ModelManifest;
  /** undefined: the model as it was published. */
  readonly adapter: string | undefined;
  /** For the weights with the adapter merged into them. */
  readonly folder: string;
}

/** One text at a time; the answers come in the same order. */
export interface ToModel {
  readonly text: string;
}

export type FromModel =
  | { readonly kind: "ready" }
  | { readonly kind: "vector"; readonly vector: Float32Array }
  | { readonly kind: "failed"; readonly reason: string }
  /** The model could not be loaded. */
  | { readonly kind: "unusable"; readonly reason: string };
