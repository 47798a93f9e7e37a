/**
 * Characters a person does not see or cannot tell from a space: control, format, private and unassigned ones, ignorable
 * ones such as the filler U+3164 (a letter to a parser), blank symbols, and every space but the plain one.
 */
const INVISIBLE =
  /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\uFFFC\u{13441}\u{13442}\u{16FE4}\u{1D159}]--[ \n\t]]/gv;
const SPACE = /\p{Z}/u;

/**
 * Makes untrusted text safe to show to a person who decides about it: escapes invisible characters except newline and
 * tab, and marks lone surrogates.
 */
export function toVisible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Control characters except newline, tab and the return before a newline, and those that turn the direction of text. */
const COMMANDS = /(?!\r\n)[\p{Cc}--[\n\t]]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gv;

/**
 * Escapes everything that a terminal would obey instead of showing. Unlike `toVisible` it leaves letters alone that some
 * languages and emoji need and nobody sees: nothing is decided by this text.
 */
export function withoutCommands(text: string): string {
  return text.replace(COMMANDS, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Removes invisible characters from text that is listed to people or agents; other spaces become plain ones. */
export function stripInvisible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, (character) => (SPACE.test(character) ? " " : ""));
}

/** Invisible characters, and the marks that stand for them and for hidden secrets. */
const UNCLEAR = new RegExp(`[${INVISIBLE.source}\u27E6\u27E7\u2039\u203A]`, "gv");

/**
 * Makes text visible so that no two texts look alike: `⟦U+202E⟧` is that character and never the text of its escape,
 * because a text that contains the marks has them written by number as well.
 */
export function toExact(text: string): string {
  return text.replace(UNCLEAR, (character) => {
    const number = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return `\u27E6U+${number}\u27E7`;
  });
}
