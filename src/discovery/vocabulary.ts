import { findCloseWords } from "./close-words.ts";

const LETTERS = /\p{L}+/gu;

/** The words that documents are written with, to tell what a mistyped one was meant to be. */
export class Vocabulary {
  readonly #counts = new Map<string, number>();

  add(words: Iterable<string>): void {
    for (const word of words) this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  remove(words: Iterable<string>): void {
    for (const word of words) {
      const left = (this.#counts.get(word) ?? 0) - 1;
      if (left > 0) this.#counts.set(word, left);
      else this.#counts.delete(word);
    }
  }

  /** The text with words corrected that are neither English nor in any document but close to one that is. */
  correct(text: string, isEnglish: (word: string) => boolean): string {
    return text.replace(LETTERS, (word) => {
      const plain = word.toLowerCase();
      if (this.#counts.has(plain) || isEnglish(plain)) return word;
      const close = findCloseWords(plain, this.#counts.keys());
      // most frequent first, then by the alphabet, whatever order they came in
      const [best] = close.toSorted((a, b) => this.#count(b) - this.#count(a) || (a < b ? -1 : 1));
      return best ?? word;
    });
  }

  #count(word: string): number {
    return this.#counts.get(word) ?? 0;
  }
}
