import type { Embedder } from "./embedder.ts";
import { createThreadEmbedder } from "./model-thread.ts";
import type { TransformersModel } from "./model-messages.ts";

/** Runs any model of a transformers.js that the user installed; PML ships none. */
export function createTransformersEmbedder(started: TransformersModel): Embedder {
  const { model, dimensions } = started;
  return createThreadEmbedder({
    id: `transformers.js/${model}/${dimensions}`,
    dimensions,
    script: "./transformers-worker",
    started,
  });
}
