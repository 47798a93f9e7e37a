/** Control characters but newline and tab, and those that change the direction of what follows. */
const INVISIBLE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g;

/**
 * Text of a stranger as a person may see it before deciding about it: what would move the cursor, turn
 * the direction or hide itself is spelt out, and half characters are marked.
 */
export function toVisible(text: string): string {
  return text
    .toWellFormed()
    .replace(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
