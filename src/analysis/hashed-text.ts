import { createHash } from "node:crypto";

const CHUNK_BYTES = 16_384;
/** UTF-8 of one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
const ASCII_END = 128;

/** A long text of which only the hash is wanted: written piece by piece into the same memory, so that it never exists as a whole. */
export class HashedText {
  readonly #hash = createHash("sha256");
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #used = 0;

  write(text: string): void {
    const { length } = text;
    if (length * MAX_BYTES_PER_UNIT > CHUNK_BYTES - this.#used) this.#flush();
    if (length * MAX_BYTES_PER_UNIT > CHUNK_BYTES) this.#hash.update(text);
    else this.#append(text, length);
  }

  digest(): string {
    this.#flush();
    return this.#hash.digest("hex");
  }

  #append(text: string, length: number): void {
    const chunk = this.#chunk;
    let at = this.#used;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code >= ASCII_END) {
        this.#used += chunk.write(text, this.#used);
        return;
      }
      chunk[at] = code;
      at += 1;
    }
    this.#used = at;
  }

  #flush(): void {
    if (this.#used > 0) this.#hash.update(this.#chunk.subarray(0, this.#used));
    this.#used = 0;
  }
}
