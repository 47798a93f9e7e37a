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

/** Replaces the values of an intent by their kinds, so that tasks that differ in values alone read the same. */
export function delexicalise(intent: string): string {
  let text = intent;
  for (const [kind, pattern] of SHAPES) text = text.replace(pattern, kind);
  text = text.replace(NAME, (words) => (NOT_NAMES.test(words) ? words : "name"));
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}
