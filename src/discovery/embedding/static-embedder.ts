import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../package-info.ts";
import { normalise } from "./embedder.ts";
import type { Wordpiece } from "./wordpiece.ts";

const DIMENSIONS = 256;

/** Vectors at once, without a model: the sum of those of the word pieces. */
export interface StaticEmbedder {
  readonly id: string;
  readonly dimensions: number;
  embed(text: string): Float32Array;
}

/** Reads the table that ships with the package: a row of bytes for each piece, and what to multiply it by. */
export function readStaticEmbedder(wordpiece: Wordpiece): StaticEmbedder {
  const file = readFileSync(join(packageRoot, "models", "static-256.i8"));
  const rows = new Int8Array(file.buffer, file.byteOffset, file.length);
  const scaleFile = readFileSync(join(packageRoot, "models", "static-256.scale.f32"));
  const scales = new Float32Array(new Uint8Array(scaleFile).buffer);
  return {
    id: "static-256-1",
    dimensions: DIMENSIONS,
    embed(text) {
      const sum = new Float32Array(DIMENSIONS);
      for (const piece of wordpiece.split(text)) {
        const scale = scales[piece] ?? 0;
        const start = piece * DIMENSIONS;
        for (let at = 0; at < DIMENSIONS; at += 1) sum[at] = (sum[at] as number) + (rows[start + at] as number) * scale;
      }
      return normalise(sum);
    },
  };
}
