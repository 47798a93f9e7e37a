/** Words of this length are only matched with two letters swapped: most are one letter away from another word. */
const SHORT = 4;
const TWO_ERRORS_FROM = 9;
export const MAX_ERRORS = 2;

/** A word with its letter mask. */
export interface KnownWord {
  readonly word: string;
  readonly letters: number;
}

/** Bit mask of letters; letters of other alphabets share bits. */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** Finds indexed words that a mistyped query word may stand for. */
export function findCloseWords(word: string, groups: readonly Iterable<KnownWord>[]): string[] {
  if (word.length < SHORT) return [];
  const letters = lettersOf(word);
  let best = word.length >= TWO_ERRORS_FROM ? MAX_ERRORS : 1;
  let found: string[] = [];
  for (const group of groups) {
    for (const known of group) {
      // an edit changes at most two letters; the mask rejects most words before the costlier edit distance
      if (countBits(letters ^ known.letters) > 2 * best) continue;
      const errors = compare(word, known.word, best);
      if (errors > best) continue;
      if (errors < best) found = [];
      best = errors;
      found.push(known.word);
    }
  }
  return found;
}

function compare(word: string, other: string, limit: number): number {
  if (Math.abs(other.length - word.length) > limit || other.length < SHORT) return Infinity;
  if (word.length === SHORT && !hasSameLetters(word, other)) return Infinity;
  return countErrors(word, other, limit);
}

/** Population count. */
function countBits(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function hasSameLetters(a: string, b: string): boolean {
  return a.length === b.length && [...a].toSorted().join("") === [...b].toSorted().join("");
}

/** Edit distance with transpositions; stops counting beyond `limit`. */
function countErrors(a: string, b: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let errors = Math.min(replaced, (last[j] as number) + 1, (row[j - 1] as number) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) errors = Math.min(errors, (beforeLast[j - 2] as number) + 1);
      row.push(errors);
    }
    if (Math.min(...row) > limit) return limit + 1;
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
}
