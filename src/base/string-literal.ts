/** Escapes can spell any text. */
const ESCAPE = /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(\r\n|[^]))/gi;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
  v: "\v",
  "0": "\0",
  // A line that goes on.
  "\n": "",
  "\r": "",
  "\r\n": "",
  "\u2028": "",
  "\u2029": "",
};
const LAST_CODE_POINT = 0x10ffff;

/** Returns the value of a string literal, as it is written between its quotes. */
export function readStringLiteral(written: string): string {
  return written.replace(ESCAPE, (_all, ...[wide, unicode, byte, other]: (string | undefined)[]) => {
    const code = wide ?? unicode ?? byte;
    return code === undefined ? (SHORT_ESCAPES[other ?? ""] ?? other ?? "") : toCharacter(Number.parseInt(code, 16));
  });
}

function toCharacter(code: number): string {
  return code <= LAST_CODE_POINT ? String.fromCodePoint(code) : "";
}
