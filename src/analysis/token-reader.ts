import { CODES, continuesWord, LINE_END, OTHER_SPACE, tokenStartOf, WORD } from "./tokens.ts";

/** Reads a text token by token. */
export class TokenReader {
  readonly source: string;
  at = 0;
  /** True if a line ended since the caller last reset it. */
  newline = false;
  lineStart = 0;
  lineTokens = 0;

  constructor(source: string) {
    this.source = source;
  }

  get atEnd(): boolean {
    return this.at >= this.source.length;
  }

  skipSpace(): void {
    let code = this.source.charCodeAt(this.at);
    while (code === CODES.space || code === CODES.newLine) {
      this.at += 1;
      if (code === CODES.newLine) this.#startLine();
      code = this.source.charCodeAt(this.at);
    }
    if (code < CODES.space || code > CODES.asciiEnd) this.#noteLines(this.take(OTHER_SPACE) ?? "");
  }

  skipComment(): boolean {
    const start = this.at;
    if (this.source[start + 1] === "/") return this.#skipTo(/(?=[\n\r\u2028\u2029])|$/g, start);
    const closed = this.#skipTo(/\*\//g, start + 2);
    this.#noteLines(this.source.slice(start, this.at));
    return closed;
  }

  /** Consumes the match of a pattern at the current position. */
  take(pattern: RegExp): string | undefined {
    const start = this.at;
    pattern.lastIndex = start;
    if (!pattern.test(this.source)) return undefined; // `exec` would allocate an array
    this.at = pattern.lastIndex;
    return this.source.slice(start, this.at);
  }

  /** Nearly all words are ASCII and so short that a regular expression takes longer to start than to match. */
  takeWord(): string {
    const start = this.at;
    let end = start;
    let code = this.source.charCodeAt(end);
    while (tokenStartOf(code) === "word") {
      end += 1;
      code = this.source.charCodeAt(end);
    }
    if (continuesWord(code)) return this.take(WORD) ?? "";
    this.at = end;
    return this.source.slice(start, end);
  }

  #skipTo(end: RegExp, from: number): boolean {
    end.lastIndex = from;
    const found = end.exec(this.source);
    this.at = found === null ? this.source.length : found.index + found[0].length;
    return found !== null;
  }

  #noteLines(text: string): void {
    if (text.includes("\n")) this.#startLine();
    else if (LINE_END.test(text)) this.newline = true;
  }

  #startLine(): void {
    this.newline = true;
    this.lineStart = this.at;
    this.lineTokens = 0;
  }
}
