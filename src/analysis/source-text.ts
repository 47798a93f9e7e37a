import type { SourceRange } from "./structure.ts";

const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;
const MAX_EXCERPT = 200;

/** Precedes a program when it is parsed. The inner block lets a program declare any name, `args` too. */
export const WRAPPER_START = 'async (args, __pml) => {"use strict";{';

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Converts between offsets and lines. Offsets count from `shift` characters before the text. */
export class SourceText {
  readonly #text: string;
  readonly #shift: number;
  readonly #lineStarts: number[] = [0];

  constructor(text: string, shift = 0) {
    this.#text = text;
    this.#shift = shift;
    LINE_END.lastIndex = 0;
    while (LINE_END.test(text)) this.#lineStarts.push(LINE_END.lastIndex);
  }

  /** Clamps offsets outside of the text to its first or last position. */
  position(offset: number): Position {
    const own = Math.min(Math.max(offset - this.#shift, 0), this.#text.length);
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= own) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: own - (this.#lineStarts[low] ?? 0) };
  }

  offset({ line, column }: Position): number {
    const index = Math.min(Math.max(line, 1), this.#lineStarts.length) - 1;
    return (this.#lineStarts[index] ?? 0) + column + this.#shift;
  }

  line(number: number): string {
    const text = this.#text.slice(this.#lineStarts[number - 1], this.#lineStarts[number]);
    return text.replace(LINE_END, "");
  }

  range({ start, end }: { readonly start: number; readonly end: number }): SourceRange {
    const { line, column } = this.position(start);
    return { start: start - this.#shift, end: end - this.#shift, line, column };
  }

  /** Returns the text of a range on one line, cut where it is long. */
  excerpt({ start, end }: { readonly start: number; readonly end: number }): string {
    const from = start - this.#shift;
    const text = this.#text.slice(from, Math.min(end - this.#shift, from + 2 * MAX_EXCERPT));
    const flat = text.replace(/\s+/g, " ").trim();
    return flat.length > MAX_EXCERPT ? `${flat.slice(0, MAX_EXCERPT - 1)}…` : flat;
  }
}
