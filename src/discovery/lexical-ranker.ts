import type { Ranked, Ranker, SearchDocument, Why } from "./ranker.ts";

/** How much a word counts by where it stands; a name is chosen with more care than a description. */
const WEIGHTS = { name: 2.5, description: 1, arguments: 0.5 } as const;
const PARTS = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];

/** The usual constants of BM25: how fast repetition saturates, and how much long texts are held back. */
const SATURATION = 1.2;
const LENGTH_PENALTY = 0.75;

type PartWords = Readonly<Record<(typeof PARTS)[number], readonly string[]>>;

interface Entry {
  readonly id: string;
  readonly parts: PartWords;
  /** Weighted, length-normalised frequency of each word. */
  readonly frequencies: ReadonlyMap<string, number>;
}

/** BM25 over fields: words in common, rare ones more than frequent ones. It knows no synonyms. */
export function createLexicalRanker(documents: readonly SearchDocument[]): Ranker {
  const split = documents.map((each) => ({ id: each.id, parts: splitParts(each) }));
  const lengths = averageLengths(split.map(({ parts }) => parts));
  const entries = split.map(({ id, parts }): Entry => ({ id, parts, frequencies: countWords(parts, lengths) }));
  const containing = indexWords(entries);
  const rarity = (word: string): number => {
    const count = containing.get(word)?.length ?? 0;
    return Math.log(1 + (entries.length - count + 0.5) / (count + 0.5));
  };
  return {
    rank(query) {
      const words = [...new Set(splitWords(query))];
      const best = words.reduce((sum, word) => sum + rarity(word) * (SATURATION + 1), 0);
      const candidates = new Set(words.flatMap((word) => containing.get(word) ?? []));
      return [...candidates]
        .map((entry): Ranked => ({
          id: entry.id,
          score: round(scoreEntry(entry, words, rarity) / best),
          // most of what is ranked is never shown
          get why() {
            return explain(entry.parts, words);
          },
        }))
        .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
    },
  };
}

function indexWords(entries: readonly Entry[]): Map<string, Entry[]> {
  const containing = new Map<string, Entry[]>();
  for (const entry of entries) {
    for (const word of entry.frequencies.keys()) {
      const sharing = containing.get(word);
      if (sharing === undefined) containing.set(word, [entry]);
      else sharing.push(entry);
    }
  }
  return containing;
}

function scoreEntry({ frequencies }: Entry, words: readonly string[], rarity: (word: string) => number): number {
  return words.reduce((sum, word) => {
    const frequency = frequencies.get(word) ?? 0;
    return sum + (rarity(word) * frequency * (SATURATION + 1)) / (frequency + SATURATION);
  }, 0);
}

function splitParts(document: SearchDocument): PartWords {
  return {
    name: splitWords(document.name),
    description: splitWords(document.description),
    arguments: document.arguments.flatMap(splitWords),
  };
}

function averageLengths(all: readonly PartWords[]): Record<keyof PartWords, number> {
  const average = (part: keyof PartWords): number =>
    all.reduce((sum, words) => sum + words[part].length, 0) / Math.max(1, all.length);
  return { name: average("name"), description: average("description"), arguments: average("arguments") };
}

function countWords(parts: PartWords, lengths: Readonly<Record<keyof PartWords, number>>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const part of PARTS) {
    const relative = parts[part].length / Math.max(1, lengths[part]);
    const weight = WEIGHTS[part] / (1 - LENGTH_PENALTY + LENGTH_PENALTY * relative);
    for (const word of parts[part]) counts.set(word, (counts.get(word) ?? 0) + weight);
  }
  return counts;
}

function explain(parts: PartWords, words: readonly string[]): Why {
  const shared = PARTS.map((part) => [part, words.filter((word) => parts[part].includes(word))] as const);
  return Object.fromEntries(shared.filter(([, found]) => found.length > 0));
}

/** Too frequent in requests to say anything about what is wanted. */
const STOP_WORDS = new Set(
  "a an and are as at be by can could do for from get give how i in is it me my of on or please that the this to want what with you your".split(
    " ",
  ),
);

function splitWords(text: string): string[] {
  return text
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "" && !STOP_WORDS.has(word))
    .map(stem);
}

/** Plurals and the commonest endings, so that "reading files" finds `read_file`. */
function stem(word: string): string {
  if (word.length > 5 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 3 && word.endsWith("s") && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1);
  if (word.length > 5 && word.endsWith("ing")) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith("ed")) return word.slice(0, -2);
  return word;
}

function round(score: number): number {
  return Math.round(score * 1000) / 1000;
}
