/** Control and format characters, which move the cursor, reverse the text direction, or are invisible. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Makes untrusted text safe to show to a person who decides about it: escapes invisible characters except newline and
 * tab, and marks lone surrogates.
 */
export function toVisible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, (character) => {
    if (character === "\n" || character === "\t") return character;
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}
