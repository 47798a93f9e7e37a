import {
  CLAUSE_WORDS,
  findVerb,
  isFiller,
  isFinite,
  isVague,
  POINTERS,
  PREPOSITIONS,
  TWO_WORD_VERBS,
} from "./verbs.ts";

/** What an intent says: to do something with something. */
export interface IntentPhrase {
  /** undefined: it only names what is wanted (`top customers by revenue`). */
  readonly verb: string | undefined;
  /** The verb was asked for as a question (`which files …`); it fits less surely. */
  readonly asked: boolean;
  /** What is meant, from general to particular: the words of a noun (`open issues`). */
  readonly target: readonly string[];
  /** Further words that tell it from similar ones, most telling first. */
  readonly qualifiers: readonly string[];
}

/** Openings that stand for a verb. The rest of the sentence says of what. */
const OPENINGS: readonly (readonly [RegExp, string | undefined])[] = [
  [/^how many\b/, "count"],
  [/^(?:the )?number of\b/, "count"],
  [/^count of\b/, "count"],
  [/^(?:a )?list of\b/, "list"],
  [/^(?:how much|what|which|who|whose|where|when)\b/, undefined],
];

const COURTESIES =
  /^(?:please|kindly|hey|hi|ok|okay|(?:can|could|would|will) you|i (?:want|need|would like)|i'd like|we (?:want|need)|help me|let me|let's|need|want|try|trying|and|then|you should|the user (?:wants|asked)|go and|to)\b[\s,]*/;

/** Whether the program has a word too. */
export type Knows = (word: string) => boolean;

/**
 * People begin with why, when or for whom. What counts is the first part of a sentence that says to do
 * something, or else the first whose nouns the program knows.
 */
export function readIntent(intent: string, knows: Knows): IntentPhrase {
  const phrases = toClauses(intent).map(readClause);
  const telling = phrases.filter(({ target }) => target.some((word) => !isVague(word)));
  return (
    telling.find(({ verb }) => verb !== undefined) ??
    telling.find(({ target }) => target.some(knows)) ??
    telling[0] ??
    phrases[0] ?? { verb: undefined, asked: false, target: [], qualifiers: [] }
  );
}

function toClauses(intent: string): string[] {
  const plain = intent
    .toLowerCase()
    .replace(/[’']s\b/g, "")
    .replace(/["'`]/g, "");
  const whole = TWO_WORD_VERBS.reduce((text, [pattern, word]) => text.replace(pattern, word), plain);
  return whole
    .split(/[.;:!?](?=\s|$)|,\s/)
    .map(withoutCourtesies)
    .filter((clause) => clause !== "");
}

function withoutCourtesies(clause: string): string {
  const shorter = clause.trim().replace(COURTESIES, "");
  return shorter === clause ? clause : withoutCourtesies(shorter);
}

function readClause(clause: string): IntentPhrase {
  const opening = OPENINGS.find(([pattern]) => pattern.test(clause));
  if (opening !== undefined) {
    const [pattern, verb] = opening;
    return { verb, asked: true, ...readNouns(toTokens(clause.replace(pattern, "")), verb) };
  }
  const tokens = toTokens(clause);
  const at = tokens.findIndex((token) => !isFiller(token));
  const verb = findVerb(tokens[at] ?? "");
  if (verb === undefined) return { verb, asked: false, ...readNouns(tokens, undefined) };
  return { verb, asked: false, ...readNouns(skipFurtherVerbs(tokens.slice(at + 1)), verb) };
}

/** Words, and `,` for whatever ends a part of a sentence. `on-call` is one word. */
function toTokens(sentence: string): string[] {
  const words = sentence.match(/[a-z0-9]+(?:[-_][a-z0-9]+)*|[,;:.!?()]/g) ?? [];
  return words.map((word) => (/^[a-z0-9]/.test(word) ? word.replace(/-/g, "_") : ","));
}

/** `read and parse JSON`: the first verb is the name's, the noun is behind the last. */
function skipFurtherVerbs(tokens: readonly string[]): string[] {
  let rest = tokens;
  while (isJoin(rest[0]) && findVerb(rest[1] ?? "") !== undefined) rest = rest.slice(2);
  return [...rest];
}

function isJoin(token: string | undefined): boolean {
  return token === "and" || token === "or" || token === "then" || token === ",";
}

/** A run of words that belong together, and the preposition it hangs on. */
interface Chunk {
  readonly preposition: string | undefined;
  readonly words: readonly string[];
}

const LONGEST_TARGET = 3;
/** With these, what is looked for is said last: `search the web for news`. */
const SEARCHES = new Set(["search", "query", "scan", "ask", "check", "monitor"]);

function readNouns(tokens: readonly string[], verb: string | undefined): Pick<IntentPhrase, "target" | "qualifiers"> {
  const chunks = toChunks(tokens).filter(({ words }) => words.length > 0);
  const main = pickMain(chunks, verb);
  const words = main?.words ?? [];
  const others = chunks.filter((chunk) => chunk !== main).flatMap((chunk) => chunk.words);
  const target = words.slice(-LONGEST_TARGET);
  const qualifiers = [...words.slice(0, -LONGEST_TARGET), ...others].filter(
    (word, index, all) => !target.includes(word) && !isVague(word) && all.indexOf(word) === index,
  );
  return { target, qualifiers };
}

function pickMain(chunks: readonly Chunk[], verb: string | undefined): Chunk | undefined {
  const [first, second] = chunks;
  const soughtFor = chunks.find(({ preposition }) => preposition === "for");
  if (verb !== undefined && SEARCHES.has(verb) && first?.preposition === undefined && soughtFor !== undefined)
    return soughtFor;
  const pointsOn = first !== undefined && first.words.every((word) => POINTERS.has(word) || isVague(word));
  return pointsOn && second !== undefined ? second : first;
}

function toChunks(tokens: readonly string[]): Chunk[] {
  const chunks: { preposition: string | undefined; words: string[] }[] = [{ preposition: undefined, words: [] }];
  let open = true;
  for (const token of tokens) {
    const current = chunks.at(-1);
    const begun = current !== undefined && current.words.length > 0;
    if (PREPOSITIONS.has(token)) {
      chunks.push({ preposition: token, words: [] });
      open = true;
    } else if (token === "," || isJoin(token) || CLAUSE_WORDS.has(token) || isFinite(token)) {
      // What follows is another matter, unless nothing was said yet: `check that the links …`.
      if (begun) open = false;
    } else if (open && !isFiller(token)) current?.words.push(token);
  }
  return chunks;
}
