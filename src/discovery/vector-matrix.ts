import { createScan } from "./scan-kernel.ts";

const PAGE_BYTES = 65_536;
const LANES = 16;
/** Rows are 8-bit; the query has more bits, so that only the rows lose precision. */
const ROW_RANGE = 127;
const QUERY_RANGE = 4095;
const FIRST_ROWS = 64;

/** Vectors as rows of bytes with a scale each, compared with a query in one scan. */
export class VectorMatrix {
  readonly #dimensions: number;
  /** Bytes per row: the dimensions, padded to whole lanes. */
  readonly #width: number;
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #scan = createScan(this.#memory);
  #scales = new Float32Array(0);
  #capacity = 0;
  #rows = 0;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#width = Math.ceil(dimensions / LANES) * LANES;
  }

  /** Takes a unit vector, or an empty one to clear the slot. */
  set(slot: number, vector: Float32Array): void {
    this.#reserve(slot + 1);
    const row = new Int8Array(this.#memory.buffer, this.#rowAt(slot), this.#width);
    const largest = largestOf(vector);
    const factor = largest === 0 ? 0 : ROW_RANGE / largest;
    for (let at = 0; at < this.#dimensions; at += 1) row[at] = Math.round((vector[at] ?? 0) * factor);
    this.#scales[slot] = largest / ROW_RANGE;
    this.#rows = Math.max(this.#rows, slot + 1);
  }

  get(slot: number): Float32Array {
    const row = new Int8Array(this.#memory.buffer, this.#rowAt(slot), this.#dimensions);
    const scale = this.#scales[slot] ?? 0;
    const vector = new Float32Array(this.#dimensions);
    for (let at = 0; at < vector.length; at += 1) vector[at] = (row[at] as number) * scale;
    return vector;
  }

  /** Writes the cosine of every slot; 0 for slots without a vector. */
  compare(query: Float32Array, cosines: Float64Array): void {
    if (this.#rows === 0) return;
    const largest = largestOf(query);
    if (largest === 0) return;
    const target = new Int16Array(this.#memory.buffer, 0, this.#width);
    for (let at = 0; at < this.#dimensions; at += 1)
      target[at] = Math.round(((query[at] ?? 0) / largest) * QUERY_RANGE);
    const out = this.#rowAt(this.#capacity);
    this.#scan({ row: this.#rowAt(0), count: this.#rows, length: this.#width, query: 0, out });
    const products = new Int32Array(this.#memory.buffer, out, this.#rows);
    const scale = largest / QUERY_RANGE;
    for (let slot = 0; slot < this.#rows; slot += 1) {
      cosines[slot] = (products[slot] as number) * (this.#scales[slot] as number) * scale;
    }
  }

  #rowAt(slot: number): number {
    return this.#width * (Int16Array.BYTES_PER_ELEMENT + slot);
  }

  /** Layout: query, rows, products. Growing only moves the products, which are temporary. */
  #reserve(rows: number): void {
    if (rows <= this.#capacity) return;
    this.#capacity = Math.max(rows, FIRST_ROWS, Math.ceil(this.#capacity * 1.5));
    const bytes = this.#rowAt(this.#capacity) + this.#capacity * Int32Array.BYTES_PER_ELEMENT;
    const missing = Math.ceil(bytes / PAGE_BYTES) - this.#memory.buffer.byteLength / PAGE_BYTES;
    if (missing > 0) this.#memory.grow(missing);
    const scales = new Float32Array(this.#capacity);
    scales.set(this.#scales);
    this.#scales = scales;
  }
}

function largestOf(vector: Float32Array): number {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  return largest;
}
