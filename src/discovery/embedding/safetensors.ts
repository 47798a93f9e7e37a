import { closeSync, openSync, readSync } from "node:fs";

export interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Arrays of numbers by name. */
export interface Tensors {
  has(name: string): boolean;
  read(name: string): Tensor;
}

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

const LENGTH_BYTES = 8;

/**
 * A file of named arrays: eight bytes with the length of a JSON header, the header, the bytes of all arrays. They are
 * read one by one, so that a large file is never in memory as a whole.
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

  read(name: string): Tensor {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new Error(`${this.#path} has no ${name}`);
    const [from, to] = entry.data_offsets;
    return { dtype: entry.dtype, shape: entry.shape, bytes: this.#readAt(this.#start + from, to - from) };
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #readAt(position: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    const read = readSync(this.#file, bytes, { position });
    if (read !== length) throw new Error(`${this.#path} ends after ${position + read} bytes, too early`);
    return bytes;
  }
}

/** Values of a tensor of half or single precision. */
export function readFloats({ dtype, bytes }: Tensor): Float32Array {
  if (dtype === "F16") return Float32Array.from(new Float16Array(bytes.buffer));
  if (dtype === "F32") return new Float32Array(bytes.buffer);
  throw new Error(`tensors of type ${dtype} are not read here`);
}
