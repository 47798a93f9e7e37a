import { FLOAT_BYTES } from "./shape.ts";

const PAGE_BYTES = 65_536;
/** Size of a cache line. */
const ALIGNMENT = 64;

/** Allocates memory of kernels, without freeing. */
export class Arena {
  readonly memory = new WebAssembly.Memory({ initial: 1 });
  #end = 0;

  /** Views are detached by the next allocation. */
  get buffer(): ArrayBuffer {
    return this.memory.buffer;
  }

  allocate(bytes: number): number {
    const start = this.#end;
    this.#end = Math.ceil((start + bytes) / ALIGNMENT) * ALIGNMENT;
    const missing = Math.ceil(this.#end / PAGE_BYTES) - this.buffer.byteLength / PAGE_BYTES;
    if (missing > 0) this.memory.grow(missing);
    return start;
  }

  putFloats(values: readonly number[]): number {
    const start = this.allocate(values.length * FLOAT_BYTES);
    new Float32Array(this.buffer, start, values.length).set(values);
    return start;
  }
}
