import type { StaticEmbedder } from "../embedding/static-embedder.ts";
import { VectorMatrix } from "../vector-matrix.ts";

/** Distinct texts with their vectors: a row of bytes each, however many capabilities share it. */
export class IntentTexts {
  readonly #lite: StaticEmbedder;
  readonly #matrix: VectorMatrix;
  readonly #slots = new Map<string, number>();

  constructor(lite: StaticEmbedder) {
    this.#lite = lite;
    this.#matrix = new VectorMatrix(lite.dimensions);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Returns the text's slot. */
  add(text: string): number {
    const known = this.#slots.get(text);
    if (known !== undefined) return known;
    const slot = this.#slots.size;
    this.#slots.set(text, slot);
    this.#matrix.set(slot, this.#lite.embed(text));
    return slot;
  }

  vectorOf(slot: number): Float32Array {
    return this.#matrix.get(slot);
  }

  /** Cosines of a vector with every text, by slot. */
  compare(vector: Float32Array): Float64Array {
    const cosines = new Float64Array(this.#slots.size);
    this.#matrix.compare(vector, cosines);
    return cosines;
  }
}
