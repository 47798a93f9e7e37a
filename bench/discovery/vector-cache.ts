import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Embedder } from "../../src/discovery/embedding/embedder.ts";
import { packageRoot } from "../../src/base/package-info.ts";

const KEY_BYTES = 16;
const TEXTS_AT_ONCE = 20;

/** Caches vectors on disk: computing them takes minutes, and they never change. */
export function cacheVectors(embedder: Embedder): Embedder {
  const { id, dimensions } = embedder;
  const folder = join(packageRoot, ".cache", "vectors");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id.replace(/[^a-z0-9]+/gi, "-")}.bin`);
  const known = readVectors(path, dimensions);
  const keep = (text: string, vector: Float32Array): void => {
    known.set(keyOf(text), vector);
    appendFileSync(path, Buffer.concat([Buffer.from(keyOf(text), "hex"), Buffer.from(new Uint8Array(vector.buffer))]));
  };
  return {
    id,
    dimensions,
    async embed(texts, urgency) {
      const missing = [...new Set(texts.filter((text) => !known.has(keyOf(text))))];
      for (let at = 0; at < missing.length; at += TEXTS_AT_ONCE) {
        const some = missing.slice(at, at + TEXTS_AT_ONCE);
        const vectors = await embedder.embed(some, urgency);
        vectors.forEach((vector, index) => keep(some[index] ?? "", vector));
        if (at % 500 === 0 && at > 0) console.error(`${at} of ${missing.length} texts embedded …`);
      }
      return texts.map((text) => known.get(keyOf(text)) ?? new Float32Array(dimensions));
    },
    ready: true,
    prepare: () => undefined, // the model starts only for an unknown text
    [Symbol.asyncDispose]: () => embedder[Symbol.asyncDispose](),
  };
}

function readVectors(path: string, dimensions: number): Map<string, Float32Array> {
  const known = new Map<string, Float32Array>();
  if (!existsSync(path)) return known;
  const bytes = new Uint8Array(readFileSync(path));
  const size = KEY_BYTES + dimensions * Float32Array.BYTES_PER_ELEMENT;
  for (let at = 0; at + size <= bytes.length; at += size) {
    const key = Buffer.from(bytes.subarray(at, at + KEY_BYTES)).toString("hex");
    known.set(key, new Float32Array(bytes.slice(at + KEY_BYTES, at + size).buffer));
  }
  return known;
}

function keyOf(text: string): string {
  return createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, KEY_BYTES * 2);
}
