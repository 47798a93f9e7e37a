/**
 * M. F. Porter's algorithm of 1980 for English endings ("running" and "runs" become "run"), written from
 * its published description. Words of other alphabets pass through unchanged.
 */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  let result = stripPlural(word);
  result = stripPast(result);
  if (result.endsWith("y") && hasVowel(result.slice(0, -1))) result = `${result.slice(0, -1)}i`;
  result = replaceEnding(result, DOUBLE_SUFFIXES, 0);
  result = replaceEnding(result, SINGLE_SUFFIXES, 0);
  result = dropEnding(result);
  return tidyEnd(result);
}

const DOUBLE_SUFFIXES: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["abli", "able"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
];
const SINGLE_SUFFIXES: readonly (readonly [string, string])[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];
const DROPPED_SUFFIXES = "ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic ou".split(" ");

function isConsonant(word: string, at: number): boolean {
  const letter = word[at] ?? "";
  if ("aeiou".includes(letter)) return false;
  return letter !== "y" || at === 0 || !isConsonant(word, at - 1);
}

/** How often a run of vowels is followed by consonants. */
function measure(text: string): number {
  let count = 0;
  for (let at = 1; at < text.length; at += 1) {
    if (isConsonant(text, at) && !isConsonant(text, at - 1)) count += 1;
  }
  return count;
}

function hasVowel(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (!isConsonant(text, at)) return true;
  return false;
}

function endsDouble(text: string): boolean {
  const last = text.length - 1;
  return last > 0 && text[last] === text[last - 1] && isConsonant(text, last);
}

/** Consonant, vowel, consonant: a short stem that lost its e. */
function endsShort(text: string): boolean {
  const last = text.length - 1;
  return (
    last > 1 &&
    isConsonant(text, last) &&
    !isConsonant(text, last - 1) &&
    isConsonant(text, last - 2) &&
    !"wxy".includes(text[last] ?? "")
  );
}

function stripPlural(word: string): string {
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function stripPast(word: string): string {
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const ending = ["ed", "ing"].find((each) => word.endsWith(each));
  if (ending === undefined) return word;
  const left = word.slice(0, -ending.length);
  if (!hasVowel(left)) return word;
  if (/(?:at|bl|iz)$/.test(left)) return `${left}e`;
  if (endsDouble(left) && !/[lsz]$/.test(left)) return left.slice(0, -1);
  return measure(left) === 1 && endsShort(left) ? `${left}e` : left;
}

function replaceEnding(word: string, endings: readonly (readonly [string, string])[], above: number): string {
  const found = endings.find(([ending]) => word.endsWith(ending));
  if (found === undefined) return word;
  const left = word.slice(0, -found[0].length);
  return measure(left) > above ? left + found[1] : word;
}

function dropEnding(word: string): string {
  const ending = DROPPED_SUFFIXES.find((each) => word.endsWith(each));
  if (ending === undefined) return word;
  const left = word.slice(0, -ending.length);
  if (measure(left) <= 1 || (ending === "ion" && !/[st]$/.test(left))) return word;
  return left;
}

function tidyEnd(word: string): string {
  let result = word;
  if (result.endsWith("e")) {
    const left = result.slice(0, -1);
    if (measure(left) > 1 || (measure(left) === 1 && !endsShort(left))) result = left;
  }
  return measure(result) > 1 && endsDouble(result) && result.endsWith("l") ? result.slice(0, -1) : result;
}
