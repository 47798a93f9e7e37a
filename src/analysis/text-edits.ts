const LINE_ENDS = /[\n\r\u2028\u2029]+/g;

/** Order of edits at one position: ends of wraps, insertions, starts of wraps, replacements. */
const CLOSE = 0;
const POINT = 1;
const OPEN = 2;
const REPLACE = 3;

interface Edit {
  readonly at: number;
  readonly end: number;
  readonly order: typeof CLOSE | typeof POINT | typeof OPEN | typeof REPLACE;
  /** Orders edits of one kind at one position. */
  readonly rank: number;
  readonly text: string;
}

export interface EditedText {
  readonly text: string;
  readonly runs: UneditedRuns;
}

/**
 * The ranges that edits left alone, three numbers each: where the range begins in the edited text, where in the original,
 * and its length. One list of numbers passes between threads at no cost.
 */
export type UneditedRuns = Uint32Array;

const RUN_NUMBERS = 3;

/** Collects edits of a text that leave its lines in place. */
export class TextEdits {
  readonly #edits: Edit[] = [];

  insert(at: number, text: string): void {
    this.#edits.push({ at, end: at, order: POINT, rank: this.#edits.length, text });
  }

  /** Wraps a range. Wraps nest as their ranges do; on one range the first is the outermost. */
  wrap(range: { readonly start: number; readonly end: number }, before: string, after: string): void {
    const { start, end } = range;
    const sequence = this.#edits.length / 1e9;
    this.#edits.push(
      { at: start, end: start, order: OPEN, rank: sequence - end, text: before },
      { at: end, end, order: CLOSE, rank: -sequence - start, text: after },
    );
  }

  /** Replaces a range with `text` and keeps its line ends. */
  replace(start: number, end: number, text = " "): void {
    this.#edits.push({ at: start, end, order: REPLACE, rank: 0, text });
  }

  apply(original: string): EditedText {
    const edits = this.#edits.toSorted((a, b) => a.at - b.at || a.order - b.order || a.rank - b.rank);
    const pieces: string[] = [];
    const runs: number[] = [];
    let from = 0;
    let length = 0;
    const push = (text: string): void => {
      pieces.push(text);
      length += text.length;
    };
    for (const { at, end, text } of edits) {
      // Skips edits inside a replaced range.
      if (at < from) continue;
      runs.push(length, from, at - from);
      push(original.slice(from, at));
      push(end === at ? text : keepLines(original.slice(at, end), text));
      from = end;
    }
    runs.push(length, from, original.length - from);
    push(original.slice(from));
    return { text: pieces.join(""), runs: Uint32Array.from(runs) };
  }
}

/** Maps an offset in the edited text to the original; inserted text maps to where it stands. */
export function originalOffset(runs: UneditedRuns, offset: number): number {
  let low = 0;
  let high = runs.length / RUN_NUMBERS - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((runs[middle * RUN_NUMBERS] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  const [edited = 0, original = 0, length = 0] = runs.subarray(low * RUN_NUMBERS, (low + 1) * RUN_NUMBERS);
  return original + Math.min(offset - edited, length);
}

/** Puts a closing bracket behind the line ends: the text after it must not start on a new line. */
function keepLines(replaced: string, text: string): string {
  const lines = (replaced.match(LINE_ENDS) ?? []).join("");
  return text.startsWith(")") ? lines + text : text + lines;
}
