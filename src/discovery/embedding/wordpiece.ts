import { readFileSync } from "node:fs";

/** Splits text into the word pieces of a BERT vocabulary, without special tokens. */
export interface Wordpiece {
  split(text: string): number[];
  /** Whether it is a word of its own in the vocabulary, which has the frequent English ones. */
  isWord(word: string): boolean;
  /** As much of the text as has at most so many pieces. */
  cut(text: string, pieces: number): string;
}

const LONGEST_WORD = 100;
const CJK = /[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF]/u;
/** BERT counts all ASCII that is neither letter nor digit as punctuation. */
const TOKEN =
  /[\p{P}!-/:-@[-`{-~]|[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF]|[^\s\p{P}!-/:-@[-`{-~\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF]+/gu;

interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly unk_token: string };
}

/** Reads the vocabulary from a `tokenizer.json`. */
export function readWordpiece(path: string): Wordpiece {
  const { model } = JSON.parse(readFileSync(path, "utf8")) as TokenizerFile;
  const pieces = new Map(Object.entries(model.vocab));
  const unknown = pieces.get(model.unk_token) ?? 0;
  const split = (text: string): number[] => tokens(text).flatMap((word) => splitWord(word, pieces) ?? [unknown]);
  return {
    split,
    isWord: (word) => pieces.has(word),
    cut(text, limit) {
      if (text.length <= limit) return text; // a piece has one character at least
      const words = text.split(/(?<=\s)/);
      let left = limit;
      const kept = words.findIndex((word) => (left -= split(word).length) < 0);
      return kept < 0 ? text : words.slice(0, kept).join("").trimEnd();
    },
  };
}

function tokens(text: string): string[] {
  const plain = text
    .replace(/[\p{Cc}\p{Cf}\uFFFD]/gu, (character) => (/\s/.test(character) ? " " : ""))
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "");
  return plain.match(TOKEN) ?? [];
}

/** The longest pieces from the left; undefined where the rest has none. */
function splitWord(word: string, pieces: ReadonlyMap<string, number>): number[] | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  if (CJK.test(word)) return pieces.has(word) ? [pieces.get(word) as number] : undefined;
  const found: number[] = [];
  let start = 0;
  while (start < word.length) {
    let end = word.length;
    let piece: number | undefined;
    for (; end > start; end -= 1) {
      piece = pieces.get((start > 0 ? "##" : "") + word.slice(start, end));
      if (piece !== undefined) break;
    }
    if (piece === undefined) return undefined;
    found.push(piece);
    start = end;
  }
  return found;
}
