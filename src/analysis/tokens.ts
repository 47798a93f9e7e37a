export const CODES = { newLine: 10, space: 32, digits: 48, backslash: 92, asciiEnd: 127 } as const;
/** Also covers letters outside of ASCII, and escapes. */
export const WORD = /(?:[\p{ID_Continue}$_#\u200c\u200d]|\\u(?:\{[\da-f]+\}|[\da-f]{4}))+/iuy;
export const NUMBER = /(?:0[xob][\da-f_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d[\d_]*)?)n?/iy;
export const PUNCTUATOR = /=>|\.\.\.|\?\.(?!\d)|(?:\*\*|&&|\|\||\?\?|<<|[=!]=?|[-+*%&|^<])=?|>|[~?:.,;@/]/y;
export const STRING = /"(?:[^"\\\n\r]|\\(?:\r\n|[^]))*"|'(?:[^'\\\n\r]|\\(?:\r\n|[^]))*'/y;
export const UPDATE = /\+\+|--/y;
export const OTHER_SPACE = /[\s\ufeff]+/y;
export const REGEX = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n\r\u2028\u2029])*\]|[^/\\[\n\r\u2028\u2029])+\//y;
export const LINE_END = /[\n\r\u2028\u2029]/;

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
const HEADS = words("if for while with");
/** Words that an operand follows. */
const PREFIXES = words("typeof void delete new return throw in instanceof extends keyof unique infer as satisfies is");
/** Words that neither an operand nor a new statement follows directly. */
const STARTS = words("function class const var switch try finally catch default enum import export do else case");
/** Words that may also be names. */
const UNSURE = words(
  "await yield of async let static readonly abstract declare type get set accessor asserts as satisfies is infer keyof unique",
);
/** Words that can continue the statement before them. */
export const CARRY_ON = words("in of instanceof as satisfies extends is else catch finally while implements");

/** The syntactic role of a keyword; a name is always an operand. */
export interface WordRole {
  /** The state after it. */
  readonly last: LastToken;
  /** A condition in brackets and a statement follow. */
  readonly isHead: boolean;
  readonly isPrefix: boolean;
}

export const ROLES: ReadonlyMap<string, WordRole> = new Map(
  [...HEADS, ...PREFIXES, ...STARTS, ...UNSURE].map((word) => [
    word,
    {
      last: UNSURE.has(word) ? "unsure" : "operator",
      isHead: HEADS.has(word),
      isPrefix: PREFIXES.has(word) || word === "await" || word === "yield",
    },
  ]),
);

/** Operators that nest to the right. */
const RIGHTWARD = words("=> ? ** ... :");
export const OPENERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Kind of token that an ASCII character starts; undefined for punctuators. A slash can also divide. */
export type TokenStart = "word" | "open" | "close" | "literal" | "separator";

const STARTS_BY_CODE: readonly (TokenStart | undefined)[] = Array.from({ length: CODES.asciiEnd + 1 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[\w$#]/.test(character)) return "word";
  if ("([{".includes(character)) return "open";
  if (")]}".includes(character)) return "close";
  if (",;:".includes(character)) return "separator";
  return "\"'`/".includes(character) ? "literal" : undefined;
});

export function tokenStartOf(code: number): TokenStart | undefined {
  return STARTS_BY_CODE[code];
}

/** True for an ASCII letter, `$`, `_` or `#`. */
export function isNameStart(code: number): boolean {
  return tokenStartOf(code) === "word" && (code < CODES.digits || code >= CODES.digits + 10);
}

export type LastToken = "operand" | "operator" | "brace" | "unsure";

export function afterBracket(character: string, head: boolean): LastToken {
  if (character === "}") return "brace";
  return head ? "operator" : "operand";
}

export function nestsRight(operator: string): boolean {
  return RIGHTWARD.has(operator) || (operator.endsWith("=") && !/^[=!<]=/.test(operator));
}

export function endsOperand(last: LastToken): boolean {
  return last === "operand" || last === "brace";
}

/** True for a character that can continue an ASCII word: a letter outside of ASCII, or an escape. */
export function continuesWord(code: number): boolean {
  return code > CODES.asciiEnd || code === CODES.backslash;
}
