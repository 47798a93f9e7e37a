import type { SearchDocument } from "./search.ts";
import { spellOut } from "./query-words.ts";

/** Characters that stand in identifiers and seldom in prose. */
const IDENTIFIER = /[_:]|\p{Ll}\p{Lu}/u;

/** What a document can be called, spelt in one way. */
export function nameKeys({ id, name, server }: SearchDocument): string[] {
  return [...new Set([name, `${server} ${name}`, id].map(toKey))];
}

/** The names a text may give: all of it, or any word of it that can only be an identifier. */
export function givenKeys(text: string): string[] {
  const identifiers = text.split(/[\s"'`()[\]{},;]+/).filter((word) => IDENTIFIER.test(word));
  return [...new Set([text, ...identifiers].map(toKey))].filter((key) => key !== "");
}

function toKey(text: string): string {
  return spellOut(text).toLowerCase();
}
