import type { SearchDocument } from "./search.ts";
import { spellOut } from "./query-words.ts";

/** Characters that are common in identifiers and rare in prose. */
const IDENTIFIER = /[_:]|\p{Ll}\p{Lu}/u;

/** Normalised names of a document. */
export function nameKeys({ id, name, server }: SearchDocument): string[] {
  return [...new Set([name, `${server} ${name}`, id].map(toKey))];
}

/** Normalised names that a text may mention: the whole text, or any word that looks like an identifier. */
export function givenKeys(text: string): string[] {
  const identifiers = text.split(/[\s"'`()[\]{},;]+/).filter((word) => IDENTIFIER.test(word));
  return [...new Set([text, ...identifiers].map(toKey))].filter((key) => key !== "");
}

function toKey(text: string): string {
  return spellOut(text).toLowerCase();
}
