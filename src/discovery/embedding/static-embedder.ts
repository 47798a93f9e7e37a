import { fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../base/package-info.ts";
import { normalise } from "./embedder.ts";
import type { Wordpiece } from "./wordpiece.ts";

const DIMENSIONS = 256;

/** Vectors at once, without a model: the sum of those of the word pieces. */
export interface StaticEmbedder {
  readonly id: string;
  readonly dimensions: number;
  embed(text: string): Float32Array;
}

/** Opens the table that ships with the package: a row of bytes for each piece, and what to multiply it by. */
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

/** Rows that are read together: a page of memory. */
const BLOCK_ROWS = 16;
const BLOCK_BYTES = BLOCK_ROWS * DIMENSIONS;

/**
 * A file of rows, read as they are needed: pieces are in the order of how frequent they are, and texts have few of them.
 * Memory that was never written to takes no room.
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

  /** All rows, of which this one is there. */
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
