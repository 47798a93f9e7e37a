import { findCloseWords, type KnownWord, lettersOf, MAX_ERRORS } from "./close-words.ts";

const LETTERS = /\p{L}+/gu;

/** Words of all documents, to correct mistyped queries with. */
export class Vocabulary {
  readonly #counts = new Map<string, number>();
  /** By length, so that only words of similar length are compared. */
  readonly #byLength = new Map<number, Map<string, KnownWord>>();

  add(words: Iterable<string>): void {
    for (const word of words) {
      const count = this.#counts.get(word) ?? 0;
      this.#counts.set(word, count + 1);
      if (count === 0) this.#ofLength(word.length).set(word, { word, letters: lettersOf(word) });
    }
  }

  remove(words: Iterable<string>): void {
    for (const word of words) {
      const left = this.#count(word) - 1;
      if (left > 0) this.#counts.set(word, left);
      else {
        this.#counts.delete(word);
        this.#ofLength(word.length).delete(word);
      }
    }
  }

  /** Corrects words that are neither English nor in any document but close to one that is. */
  correct(text: string, isEnglish: (word: string) => boolean): string {
    return text.replace(LETTERS, (word) => {
      const plain = word.toLowerCase();
      if (this.#counts.has(plain) || isEnglish(plain)) return word;
      const close = findCloseWords(plain, this.#wordsLike(plain));
      // by frequency, then alphabetically, independent of insertion order
      const [best] = close.toSorted((a, b) => this.#count(b) - this.#count(a) || (a < b ? -1 : 1));
      return best ?? word;
    });
  }

  #wordsLike({ length }: string): Iterable<KnownWord>[] {
    const lengths = Array.from({ length: 2 * MAX_ERRORS + 1 }, (_, at) => length - MAX_ERRORS + at);
    return lengths.map((each) => this.#byLength.get(each)?.values() ?? []);
  }

  #ofLength(length: number): Map<string, KnownWord> {
    const known = this.#byLength.get(length) ?? new Map<string, KnownWord>();
    this.#byLength.set(length, known);
    return known;
  }

  #count(word: string): number {
    return this.#counts.get(word) ?? 0;
  }
}
