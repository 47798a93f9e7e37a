import { createRequire } from "node:module";
import { type Comment, type OxcError, type ParserOptions, type Program, rawTransferSupported } from "oxc-parser";

/** The parts of the parser that write a tree into memory and read it from there; it has no types for them. */
interface Binding {
  getBufferOffset(memory: Uint8Array): number;
  parseRawSync(name: string, block: Uint8Array, start: number, length: number, options: ParserOptions): void;
}
interface Layout {
  readonly BLOCK_SIZE: number;
  readonly BLOCK_ALIGN: number;
  readonly BUFFER_SIZE: number;
  readonly ACTIVE_SIZE: number;
}
interface Reader {
  deserialize(memory: Views, text: string, start: number, length: number): SharedTree;
}

/** One memory, seen in different ways. */
type Views = Uint8Array & { readonly int32: Int32Array; readonly float64: Float64Array };

export interface SharedTree {
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly errors: readonly OxcError[];
}

/** The most bytes a character becomes. */
const MAX_BYTES = 3;

/**
 * Memory into which the parser writes the text's tree: to read it from there takes an eighth of what JSON takes. The parser
 * wants 2 GB of addresses that start at a multiple of 4 GB, of which only what is written to is ever there.
 */
export class SharedMemory {
  readonly #binding: Binding;
  readonly #reader: Reader;
  readonly #views: Views;
  readonly #block: Uint8Array;
  /** Where texts end. */
  readonly #end: number;
  readonly #encoder = new TextEncoder();

  private constructor(load: (part: string) => unknown) {
    const layout = load("generated/constants.js") as Layout;
    this.#binding = load("bindings.js") as Binding;
    this.#reader = load("generated/deserialize/ts.js") as Reader;
    this.#end = layout.ACTIVE_SIZE;
    // Of the two kinds of buffers this is the one V8 does not count: with 6 GB in use it would no longer give back anything else.
    const memory = new SharedArrayBuffer(layout.BLOCK_SIZE + layout.BLOCK_ALIGN);
    const offset = this.#binding.getBufferOffset(new Uint8Array(memory));
    this.#block = new Uint8Array(memory, offset, layout.BLOCK_SIZE);
    this.#views = Object.assign(new Uint8Array(memory, offset, layout.BUFFER_SIZE), {
      int32: new Int32Array(memory, offset, layout.BUFFER_SIZE / Int32Array.BYTES_PER_ELEMENT),
      float64: new Float64Array(memory, offset, layout.BUFFER_SIZE / Float64Array.BYTES_PER_ELEMENT),
    });
  }

  /** Undefined where there is no room for it, as on small machines; Windows would set aside all of it. */
  static open(): SharedMemory | undefined {
    if (process.platform === "win32" || !rawTransferSupported()) return undefined;
    const require = createRequire(import.meta.url);
    try {
      return new SharedMemory((part) => require(`oxc-parser/src-js/${part}`));
    } catch {
      // There is another way to get at trees.
      return undefined;
    }
  }

  /** Throws where the tree is too deep to be read. */
  parse(text: string, options: ParserOptions): SharedTree {
    const start = this.#end - text.length * MAX_BYTES;
    const { buffer, byteOffset } = this.#block;
    const { written } = this.#encoder.encodeInto(text, new Uint8Array(buffer, byteOffset + start, this.#end - start));
    this.#binding.parseRawSync("program.ts", this.#block, start, written, options);
    return this.#reader.deserialize(this.#views, text, start, written);
  }
}
