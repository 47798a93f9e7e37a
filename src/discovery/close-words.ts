import { editDistance } from "../base/edit-distance.ts";

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
  return editDistance(word, other, limit);
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
