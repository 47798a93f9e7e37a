import { type PieceTable, readPieceTable } from "./piece-table.ts";

/** Splits text into the word pieces of a BERT vocabulary, without special tokens. */
export interface Wordpiece {
  split(text: string): number[];
  /** True if the word is a whole piece, as frequent English words are. */
  isWord(word: string): boolean;
  /** Longest prefix of the text, in whole words, with at most so many pieces. */
  cut(text: string, pieces: number): string;
}

const LONGEST_WORD = 100;
/** UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES = 3;
/** BERT counts all ASCII that is neither letter nor digit as punctuation. */
const TOKEN =
  /[\p{P}!-/:-@[-`{-~]|[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF]|[^\s\p{P}!-/:-@[-`{-~\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF]+/gu;

/** Prefix of pieces that continue a word. */
const INSIDE = Buffer.from("##");
const UNKNOWN = "[UNK]";

/** Reads the vocabulary from a `tokenizer.json`. */
export function readWordpiece(path: string): Wordpiece {
  const pieces = readPieceTable(path);
  const splitWord = createSplitter(pieces);
  const unknown = findWhole(pieces, UNKNOWN) ?? 0;
  const split = (text: string): number[] => tokens(text).flatMap((word) => splitWord(word) ?? [unknown]);
  return {
    split,
    isWord: (word) => findWhole(pieces, word) !== undefined,
    cut(text, limit) {
      if (text.length <= limit) return text; // a piece has at least one character
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

function findWhole(pieces: PieceTable, word: string): number | undefined {
  const bytes = Buffer.from(word);
  const found = pieces.findLongest(bytes, 0, bytes.length);
  return found?.end === bytes.length ? found.id : undefined;
}

/** Splits greedily into longest pieces; undefined if the rest has none. */
function createSplitter(pieces: PieceTable): (word: string) => number[] | undefined {
  const bytes = new Uint8Array(INSIDE.length + LONGEST_WORD * MAX_BYTES);
  const encoder = new TextEncoder();
  return (word) => {
    if (word.length > LONGEST_WORD) return undefined;
    const end = INSIDE.length + encoder.encodeInto(word, bytes.subarray(INSIDE.length)).written;
    const found: number[] = [];
    for (let start: number = INSIDE.length; ;) {
      const piece = pieces.findLongest(bytes, start, end, found.length > 0 ? INSIDE.length : 0);
      if (piece === undefined) return undefined;
      found.push(piece.id);
      if (piece.end === end) return found;
      // overwrites the end of the last piece with the prefix of the next
      start = piece.end - INSIDE.length;
      bytes.set(INSIDE, start);
    }
  };
}
