import { stemmer } from "stemmer";

/** Strips English endings with Porter's algorithm; words of other alphabets and with digits pass unchanged. */
export function stem(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}
