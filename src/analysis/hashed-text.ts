import { createHash } from "node:crypto";

const PIECE_LENGTH = 16_384;

/** A long text of which only the hash is wanted: it never exists as a whole. */
export class HashedText {
  readonly #hash = createHash("sha256");
  #piece = "";

  write(text: string): void {
    this.#piece += text;
    if (this.#piece.length > PIECE_LENGTH) this.#flush();
  }

  digest(): string {
    this.#flush();
    return this.#hash.digest("hex");
  }

  #flush(): void {
    this.#hash.update(this.#piece);
    this.#piece = "";
  }
}
