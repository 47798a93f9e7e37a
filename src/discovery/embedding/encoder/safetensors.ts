import { closeSync, openSync, readSync } from "node:fs";

/** Returns the values of a row in a buffer that the next call overwrites. */
export type ReadRow = (row: number) => Float32Array;

/** Named arrays of numbers. */
export interface Tensors {
  has(name: string): boolean;
  /** Reads all values; for small arrays. */
  readFloats(name: string): Float32Array;
  /**
   * Reads row by row, so that a large array is never in memory as a whole. Readers may share a buffer: use one at a
   * time.
   */
  openRows(name: string): ReadRow;
}

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

const LENGTH_BYTES = 8;

/**
 * A safetensors file: eight bytes with the length of a JSON header, the header, and the data of all arrays, in half
 * or single precision.
 */
export class SafetensorsFile implements Tensors, Disposable {
  readonly metadata: Readonly<Record<string, string>>;
  readonly #path: string;
  readonly #file: number;
  readonly #entries: ReadonlyMap<string, HeaderEntry>;
  readonly #start: number;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, "r");
    const length = Number(new DataView(this.#readAt(0, LENGTH_BYTES).buffer).getBigUint64(0, true));
    const text = new TextDecoder().decode(this.#readAt(LENGTH_BYTES, length));
    const { __metadata__: metadata = {}, ...entries } = JSON.parse(text) as Record<string, HeaderEntry> & {
      __metadata__?: Record<string, string>;
    };
    this.metadata = metadata;
    this.#entries = new Map(Object.entries(entries));
    this.#start = LENGTH_BYTES + length;
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  readFloats(name: string): Float32Array {
    const { dtype, data_offsets } = this.#find(name);
    const [from, to] = data_offsets;
    return createDecoder(dtype, this.#readAt(this.#start + from, to - from))();
  }

  openRows(name: string): ReadRow {
    const { dtype, shape, data_offsets } = this.#find(name);
    const [from, to] = data_offsets;
    const bytes = new Uint8Array((to - from) / (shape[0] ?? 1));
    const decode = createDecoder(dtype, bytes);
    return (row) => {
      this.#fill(bytes, this.#start + from + row * bytes.length);
      return decode();
    };
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #find(name: string): HeaderEntry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new Error(`${this.#path} has no ${name}`);
    return entry;
  }

  #readAt(position: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    this.#fill(bytes, position);
    return bytes;
  }

  #fill(bytes: Uint8Array, position: number): void {
    const read = readSync(this.#file, bytes, { position });
    if (read !== bytes.length) throw new Error(`${this.#path} ends after ${position + read} bytes, too early`);
  }
}

/** Creates a function that decodes the current bytes into a reused buffer. */
function createDecoder(dtype: string, bytes: Uint8Array<ArrayBuffer>): () => Float32Array {
  if (dtype === "F32") {
    const floats = new Float32Array(bytes.buffer);
    return () => floats;
  }
  if (dtype !== "F16") throw new Error(`arrays of type ${dtype} are not supported`);
  const halves = new Float16Array(bytes.buffer);
  const floats = new Float32Array(halves.length);
  return () => {
    floats.set(halves);
    return floats;
  };
}
