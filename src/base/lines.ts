/**
 * Splits a stream of text at line feeds only. Node's readline also splits at U+2028 and U+2029,
 * which are legal inside JSON strings.
 */
export async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  const parts: string[] = [];
  for await (const chunk of chunks) {
    const pieces = chunk.split("\n");
    for (const piece of pieces.slice(0, -1)) {
      parts.push(piece);
      yield parts.splice(0).join("");
    }
    parts.push(pieces.at(-1) ?? "");
  }
  const rest = parts.join("");
  if (rest !== "") yield rest;
}

const LINE_FEED = 10;

/** Buffers the end of a stream of bytes until its line is complete; a character may be split between two chunks. */
export class WholeLines {
  #parts: Buffer[] = [];
  #heldBytes = 0;

  /** Number of buffered bytes. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Returns all lines that this chunk completes, in one buffer. */
  push(chunk: Buffer): Buffer | undefined {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end === 0) {
      this.#hold(chunk);
      return undefined;
    }
    const lines = chunk.subarray(0, end);
    const whole = this.#parts.length === 0 ? lines : Buffer.concat([...this.#parts, lines]);
    this.#parts = [];
    this.#heldBytes = 0;
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    return whole;
  }

  #hold(part: Buffer): void {
    this.#parts.push(part);
    this.#heldBytes += part.length;
  }
}

/** Yields the lines of a buffer that ends with a line feed, without their line feeds. */
export function* readLines(whole: Buffer): Generator<string> {
  let start = 0;
  for (let end = whole.indexOf(LINE_FEED); end !== -1; end = whole.indexOf(LINE_FEED, start)) {
    yield whole.toString("utf8", start, end);
    start = end + 1;
  }
}
