import type { Bm25f, QueryWord } from "./bm25f.ts";
import { findCloseWords } from "./close-words.ts";
import { splitWords } from "./words.ts";

/** What a word that is only close to the one in the query counts. */
const CLOSE_WEIGHT = 0.6;

/** The words of a query as the index has them; mistyped ones are replaced by those that were probably meant. */
export function toQueryWords(text: string, index: Bm25f): QueryWord[] {
  const counts = new Map<string, number>();
  for (const word of splitWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].flatMap(([word, count]): QueryWord[] => {
    const weight = 1 + Math.log(count);
    if (index.has(word)) return [{ word, weight }];
    return findCloseWords(word, index.words).map((close) => ({ word: close, weight: weight * CLOSE_WEIGHT }));
  });
}
