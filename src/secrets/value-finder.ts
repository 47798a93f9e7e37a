/** Values are looked for by their beginning, so that one hostile long value costs no more than a short one. */
const LONGEST_PREFIX = 32;
const TABLE_SIZE = 4096;

/**
 * Finds many values in a text in one pass that skips most characters (Wu and Manber): the time depends on the text, hardly
 * on the number of values.
 */
export class ValueFinder {
  readonly #window: number;
  readonly #shifts: Uint8Array;
  /** Values by the characters of their first window. */
  readonly #byStart: ReadonlyMap<string, readonly string[]>;

  /** @param values of at least two characters each */
  constructor(values: readonly string[]) {
    this.#window = Math.min(LONGEST_PREFIX, ...values.map(({ length }) => length));
    this.#shifts = new Uint8Array(TABLE_SIZE).fill(this.#window - 1);
    for (const value of values) this.#noteShifts(value);
    const longestFirst = values.toSorted((one, other) => other.length - one.length);
    this.#byStart = Map.groupBy(longestFirst, (value) => value.slice(0, this.#window));
  }

  has(text: string): boolean {
    return this.#find(text, 0) !== undefined;
  }

  /** Replaces each occurrence, also of only the beginning of a long value, which a cut may have left. */
  replace(text: string, replaceValue: (found: string) => string): string {
    let found = this.#find(text, 0);
    if (found === undefined) return text;
    const pieces: string[] = [];
    let from = 0;
    for (; found !== undefined; found = this.#find(text, from)) {
      pieces.push(text.slice(from, found.start), replaceValue(text.slice(found.start, found.end)));
      from = found.end;
    }
    pieces.push(text.slice(from));
    return pieces.join("");
  }

  #noteShifts(value: string): void {
    const last = this.#window - 2;
    for (let at = 0; at <= last; at += 1) {
      const slot = slotOf(value.charCodeAt(at), value.charCodeAt(at + 1));
      this.#shifts[slot] = Math.min(this.#shifts[slot] ?? 0, last - at);
    }
  }

  #find(text: string, from: number): { readonly start: number; readonly end: number } | undefined {
    const window = this.#window;
    for (let end = from + window; end <= text.length;) {
      const shift = this.#shifts[slotOf(text.charCodeAt(end - 2), text.charCodeAt(end - 1))] ?? 0;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const start = end - window;
      const length = this.#matchAt(text, start);
      if (length > 0) return { start, end: start + length };
      end += 1;
    }
    return undefined;
  }

  #matchAt(text: string, start: number): number {
    const candidates = this.#byStart.get(text.slice(start, start + this.#window)) ?? [];
    let longest = 0;
    for (const value of candidates) {
      if (text.startsWith(value.slice(0, LONGEST_PREFIX), start))
        longest = Math.max(longest, commonLength(text, start, value));
    }
    return longest;
  }
}

function slotOf(one: number, other: number): number {
  return ((one << 5) ^ other) & (TABLE_SIZE - 1);
}

function commonLength(text: string, start: number, value: string): number {
  if (text.startsWith(value, start)) return value.length;
  let length = Math.min(LONGEST_PREFIX, value.length);
  while (text.charCodeAt(start + length) === value.charCodeAt(length)) length += 1;
  return length;
}
