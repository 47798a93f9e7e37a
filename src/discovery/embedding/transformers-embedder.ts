import type { Embedder } from "./embedder.ts";
import { createThreadEmbedder } from "./model-thread.ts";
import type { TransformersModel } from "./model-messages.ts";

/** Any model that a transformers.js can run which the user installed: PML does not come with one. */
export function createTransformersEmbedder(started: TransformersModel): Embedder {
  const { model, dimensions } = started;
  return createThreadEmbedder({
    id: `transformers.js/${model}/${dimensions}`,
    dimensions,
    script: "./transformers-worker",
    started,
  });
}
