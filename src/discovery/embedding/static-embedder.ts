import { fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../base/package-info.ts";
import { normalise } from "./encoder/unit-vector.ts";
import type { Wordpiece } from "./wordpiece.ts";

const DIMENSIONS = 256;

/** Embeds at once, without a model: sums the vectors of the word pieces. */
export interface StaticEmbedder {
  readonly id: string;
  readonly dimensions: number;
  embed(text: string): Float32Array;
}

/** Opens the table that ships with the package: a row of bytes and a scale per piece. */
export function readStaticEmbedder(wordpiece: Wordpiece): StaticEmbedder {
  const scaleFile = readFileSync(join(packageRoot, "models", "static-256.scale.f32"));
  const scales = new Float32Array(new Uint8Array(scaleFile).buffer);
  const rows = new RowFile(join(packageRoot, "models", "static-256.i8"), scales.length);
  return {
    id: "static-256-1",
    dimensions: DIMENSIONS,
    embed(text) {
      const sum = new Float32Array(DIMENSIONS);
      for (const piece of wordpiece.split(text)) {
        const scale = scales[piece] ?? 0;
        const values = rows.read(piece);
        const start = piece * DIMENSIONS;
        for (let at = 0; at < DIMENSIONS; at += 1)
          sum[at] = (sum[at] as number) + (values[start + at] as number) * scale;
      }
      return normalise(sum);
    },
  };
}

/** Rows per read: a page of memory. */
const BLOCK_ROWS = 16;
const BLOCK_BYTES = BLOCK_ROWS * DIMENSIONS;

/**
 * A file of rows, read on demand: pieces are sorted by frequency, and texts use few of them. Pages that were never
 * written take no memory.
 */
class RowFile {
  readonly #file: number;
  readonly #values: Int8Array;
  readonly #read: Uint8Array;

  constructor(path: string, count: number) {
    this.#file = openSync(path, "r");
    const { size } = fstatSync(this.#file);
    if (size !== count * DIMENSIONS) throw new Error(`${path} has ${size} bytes instead of ${count * DIMENSIONS}`);
    this.#values = new Int8Array(size);
    this.#read = new Uint8Array(Math.ceil(count / BLOCK_ROWS));
  }

  /** Returns all rows after making sure that this one is loaded. */
  read(row: number): Int8Array {
    const block = Math.floor(row / BLOCK_ROWS);
    if (this.#read[block] === 0) {
      const position = block * BLOCK_BYTES;
      readSync(this.#file, this.#values.subarray(position, position + BLOCK_BYTES), { position });
      this.#read[block] = 1;
    }
    return this.#values;
  }
}
