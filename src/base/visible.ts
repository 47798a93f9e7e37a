/** Control and format characters: they move the cursor, turn the direction of what follows, or hide. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Text of a stranger as a person may see it before deciding about it: what cannot be seen is spelt out,
 * except newline and tab, and half characters are marked.
 */
export function toVisible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, (character) => {
    if (character === "\n" || character === "\t") return character;
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}
