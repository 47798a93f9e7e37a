import type { SearchDocument } from "./search.ts";
import { spellOut } from "./words.ts";

/** Characters that stand in identifiers and seldom in prose. */
const IDENTIFIER = /[_:]|\p{Ll}\p{Lu}/u;

/** Whether a text is the name of a document, or has it as a word that can only be an identifier. */
export function namesExactly(text: string): (document: SearchDocument) => boolean {
  const whole = toKey(text);
  const identifiers = new Set(
    text
      .split(/[\s"'`()[\]{},;]+/)
      .filter((word) => IDENTIFIER.test(word))
      .map(toKey),
  );
  return ({ id, name, server }) => {
    const keys = [toKey(name), toKey(`${server} ${name}`), toKey(id)];
    return keys.includes(whole) || (identifiers.size > 0 && keys.some((key) => identifiers.has(key)));
  };
}

function toKey(text: string): string {
  return spellOut(text).toLowerCase();
}
