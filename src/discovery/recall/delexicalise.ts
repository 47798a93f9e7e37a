/** Values by shape, in this order: what an earlier pattern took is no candidate for a later one. */
const SHAPES: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ["options", /\{[^{}]*\}/g],
  ["text", /"[^"]*"|“[^”]*”|`[^`]*`|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])/gu],
  ["mail", /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g],
  ["link", /\b[a-z][a-z0-9+.-]*:\/\/[^\s<>"')]+/gi],
  ["date", /\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b/g],
  ["file", /(?<![\w/])(?:~|\.{1,2})?\/[\w.@~+-]+(?:\/[\w.@~+-]*)*|\b[\w-]+(?:\/[\w.-]+)*\.[a-z]{2,5}\b(?!\w)/gi],
  ["id", /(?<!\w)[#@]?(?=[\w-]*\d)(?=[\w-]*[A-Za-z_])[\w-]+/g],
  ["number", /[#$€£]?\d+(?:[.,]\d+)*%?/g],
];

/** Capitalised words that are not the first of a sentence. */
const NAME = /(?<=[\p{L}\p{N},;)] )\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*)*/gu;

/** A pronoun, never a name. */
const NOT_NAMES = /^(?:I|I'm|I'd|I'll|I've)$/;

/** A value in an intent. */
export interface IntentValue {
  readonly kind: string;
  /** Without quotes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Finds the values of an intent, in its order. */
export function findValues(intent: string): IntentValue[] {
  const found: IntentValue[] = [];
  // a taken value becomes spaces, so that positions stay
  let rest = intent;
  const take = (kind: string, pattern: RegExp): void => {
    rest = rest.replace(pattern, (value: string, ...more: unknown[]) => {
      if (kind === "name" && NOT_NAMES.test(value)) return value;
      const start = more.find((each) => typeof each === "number") as number;
      const text = kind === "text" ? value.slice(1, -1) : value;
      found.push({ kind, text, start, end: start + value.length });
      return TAKEN.repeat(value.length);
    });
  };
  for (const [kind, pattern] of SHAPES) take(kind, pattern);
  take("name", NAME);
  return found.toSorted((a, b) => a.start - b.start);
}

/** Stands for a character of a value that was taken: a letter, but in no value that is written in ASCII. */
const TAKEN = "λ";

/** Replaces the values of an intent by their kinds, so that tasks that differ in values alone read the same. */
export function delexicalise(intent: string): string {
  let text = "";
  let at = 0;
  for (const { kind, start, end } of findValues(intent)) {
    text += intent.slice(at, start) + kind;
    at = end;
  }
  return (text + intent.slice(at)).replace(/\s+/g, " ").trim().toLowerCase();
}
