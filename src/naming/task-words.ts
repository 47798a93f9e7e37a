import type { ArgumentValue } from "../analysis/structure.ts";
import type { Nameable } from "./nameable.ts";
import { isCommon } from "./common-words.ts";
import { DATA_FORMATS, findVerb, isFunctionWord, splitWords } from "./verbs.ts";

/** Mail addresses, links, paths and file names. */
const ADDRESSES = /\S+@\S+|\w+:\/\/\S+|\S*[\\/]\S*|\b[\w-]+\.[a-z]{2,4}\b/gi;
const QUOTED = /"[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’|(?<![a-z])'[^']*'(?![a-z])/gi;
const SENTENCES = /(?<=[.!?:;])\s+|\n+/;

/** Words that belong to one task: names, ids, numbers, addresses, quotations, and what its runs had as arguments. */
export function findTaskWords(nameable: Pick<Nameable, "intents" | "structure" | "values">): ReadonlySet<string> {
  const literals = (nameable.structure?.nodes ?? []).flatMap((node) =>
    "arguments" in node ? Object.values(node.arguments ?? {}).flatMap(readTexts) : [],
  );
  const values = [...literals, ...(nameable.values ?? [])].flatMap(splitWords);
  return new Set([...nameable.intents.flatMap(readIntentWords), ...values]);
}

function readTexts(argument: ArgumentValue): string[] {
  if (argument.type === "literal") return textsIn(argument.value);
  if (argument.type === "parameter") return [];
  return argument.expression.match(/"[^"]*"|'[^']*'|`[^`]*`/g)?.map((text) => text.replace(/\$\{[^}]*\}/g, " ")) ?? [];
}

/** The texts in a value, at any depth. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function readIntentWords(intent: string): string[] {
  const marked = [...(intent.match(ADDRESSES) ?? []), ...(intent.match(QUOTED) ?? [])];
  const plain = intent.replace(ADDRESSES, " ").replace(QUOTED, " ");
  const named = plain.split(SENTENCES).flatMap((sentence) => {
    const words = sentence.match(/[\p{L}\p{N}][\p{L}\p{N}_'’-]*/gu) ?? [];
    return words.filter((word, index) => isPersonal(word, index === 0));
  });
  // `GitHub` is one word in a sentence, and two in the name of a variable.
  return [...marked, ...named].flatMap((text) => [...splitWords(text), ...splitWords(text.toLowerCase())]);
}

/** A capital letter marks a name; at the start of a sentence only if the word is none of the language's frequent ones. */
function isPersonal(word: string, first: boolean): boolean {
  if (/\d/.test(word)) return true;
  if (!/^\p{Lu}/u.test(word)) return false;
  const plain = word.toLowerCase().replace(/['’]s$/, "");
  if (DATA_FORMATS.has(plain) || (/^[A-Z]{2,}s?$/.test(word) && isCommon(plain))) return false;
  return !first || !(isCommon(plain) || isFunctionWord(plain) || findVerb(plain) !== undefined);
}
