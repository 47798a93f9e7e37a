import { createHash } from "node:crypto";

const CAPACITY = 16_384;
const BYTES_PER_UNIT = 3;
const ASCII_END = 127;

/** A long text of which only the hash is wanted: it never exists as a whole, and nothing is allocated for its parts. */
export class HashedText {
  readonly #hash = createHash("sha256");
  readonly #bytes = Buffer.allocUnsafe(CAPACITY);
  #length = 0;

  write(text: string): void {
    const most = text.length * BYTES_PER_UNIT;
    if (this.#length + most > CAPACITY) this.#flush();
    if (most > CAPACITY) this.#hash.update(text);
    else this.#append(text);
  }

  digest(): string {
    this.#flush();
    return this.#hash.digest("hex");
  }

  /** By hand: nearly all texts are short, and a call of the encoder costs more than their few characters. */
  #append(text: string): void {
    const bytes = this.#bytes;
    let end = this.#length;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > ASCII_END) {
        this.#length += bytes.write(text, this.#length);
        return;
      }
      bytes[end] = code;
      end += 1;
    }
    this.#length = end;
  }

  #flush(): void {
    this.#hash.update(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
  }
}
