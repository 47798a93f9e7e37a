import { createHash } from "node:crypto";

const PIECE_LENGTH = 16_384;

/** Hashes a long text piece by piece, without holding all of it in memory. */
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
