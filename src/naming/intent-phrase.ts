import {
  CLAUSE_WORDS,
  DETERMINERS,
  findVerb,
  isFiller,
  isFinite,
  isVague,
  POINTERS,
  PREPOSITIONS,
  TWO_WORD_VERBS,
} from "./verbs.ts";

/** An intent parsed into verb and object. */
export interface IntentPhrase {
  /** Undefined for a bare noun phrase (`top customers by revenue`). */
  readonly verb: string | undefined;
  /** True if the intent is a question (`which files …`), which makes the verb less certain. */
  readonly asked: boolean;
  /** Words of the object (`open issues`), from general to particular. */
  readonly target: readonly string[];
  /** Further words that tell it apart from similar ones, most specific first. */
  readonly qualifiers: readonly string[];
}

/** Openings that imply a verb; the rest of the clause is the object. */
const OPENINGS: readonly (readonly [RegExp, string | undefined])[] = [
  [/^how many\b/, "count"],
  [/^(?:the )?number of\b/, "count"],
  [/^count of\b/, "count"],
  [/^(?:a )?list of\b/, "list"],
  [/^(?:how much|what|which|who|whose|where|when)\b/, undefined],
];

const COURTESIES =
  /^(?:please|kindly|hey|hi|ok|okay|(?:can|could|would|will) you|i (?:want|need|would like)|i'd like|we (?:want|need)|help me|let me|let's|need|want|try|trying|and|then|you should|the user (?:wants|asked)|go and|to)\b[\s,]*/;

/** Tells whether the program's vocabulary contains a word. */
export type IsKnownWord = (word: string) => boolean;

/**
 * Picks the clause that states the task: the first with a verb, else the first whose nouns the program uses. Earlier
 * clauses often only give a reason or a condition.
 */
export function readIntent(intent: string, knows: IsKnownWord): IntentPhrase {
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
  // After an article it is a noun or an adjective: `all open tickets`.
  const verb = DETERMINERS.has(tokens[at - 1] ?? "") ? undefined : findVerb(tokens[at] ?? "");
  if (verb === undefined) return { verb, asked: false, ...readNouns(tokens, undefined) };
  return { verb, asked: false, ...readNouns(skipFurtherVerbs(tokens.slice(at + 1)), verb) };
}

/** Splits into words; punctuation becomes `,`. `on-call` is one word. */
function toTokens(sentence: string): string[] {
  const words = sentence.match(/[a-z0-9]+(?:[-_][a-z0-9]+)*|[,;:.!?()]/g) ?? [];
  return words.map((word) => (/^[a-z0-9]/.test(word) ? word.replace(/-/g, "_") : ","));
}

/** `read and parse JSON`: keeps the first verb and the object after the last. */
function skipFurtherVerbs(tokens: readonly string[]): string[] {
  let rest = tokens;
  while (isJoin(rest[0]) && findVerb(rest[1] ?? "") !== undefined) rest = rest.slice(2);
  return [...rest];
}

function isJoin(token: string | undefined): boolean {
  return token === "and" || token === "or" || token === "then" || token === ",";
}

/** A noun phrase and its preposition. */
interface Chunk {
  readonly preposition: string | undefined;
  readonly words: readonly string[];
}

const LONGEST_TARGET = 3;
/** Verbs whose object follows `for`: `search the web for news`. */
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
  const searched = chunks.find(({ preposition }) => preposition === "for");
  if (verb !== undefined && SEARCHES.has(verb) && first?.preposition === undefined && searched !== undefined)
    return searched;
  const isPointer = first !== undefined && first.words.every((word) => POINTERS.has(word) || isVague(word));
  return isPointer && second !== undefined ? second : first;
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
      // Ends the object, unless it has no word yet: `check that the links …`.
      if (begun) open = false;
    } else if (open && !isFiller(token)) current?.words.push(token);
  }
  return chunks;
}
