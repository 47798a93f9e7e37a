import type { QueryWord } from "./bm25f.ts";
import { splitWords } from "./query-words.ts";

/** Query words with weights; a repeated word counts a little more. */
export function toQueryWords(text: string): QueryWord[] {
  const counts = new Map<string, number>();
  for (const word of splitWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => ({ word, weight: 1 + Math.log(count) }));
}
