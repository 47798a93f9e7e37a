import { stem } from "./stem.ts";

/** Too frequent in requests to carry information. */
const STOP_WORDS = new Set(
  `a about after all also am an and any are as at be been before but by can could did do does for from had has have he
  help her here his how i if in into is it its just let like may me might my need no not of on or our out please she
  should so some than that the their them then there these they this those to too up us use using want was we were what
  when where which who why will with would you your get`.split(/\s+/),
);

const CJK = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}`;
const WORD = new RegExp(`[${CJK}]|[\\p{L}\\p{N}]+?(?=[${CJK}]|[^\\p{L}\\p{N}]|$)`, "gu");

/** Splits a name into words: `readJSONFile`, `read_json-file` and `read:json/file` become "read JSON file". */
export function spellOut(name: string): string {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** All words in lower case, unstemmed. */
export function splitPlain(text: string): string[] {
  return (
    text
      .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
      .toLowerCase()
      .match(WORD) ?? []
  );
}

/** Stems of all words that are not stop words. */
export function splitWords(text: string): string[] {
  return splitPlain(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem);
}
