import { LONGEST_NAME } from "../registry/names.ts";
import { type IntentPhrase, readIntent } from "./intent-phrase.ts";
import type { Nameable } from "./nameable.ts";
import { type InferredNamespace, inferNamespace, NAMESPACE_WITHOUT_RULE } from "./namespace-rules.ts";
import { type ProgramClues, readProgram } from "./program-clues.ts";
import { type ConfidenceParts, isKnown, rateName, weighConfidence } from "./rate-name.ts";
import { isCommon, toSingular } from "./common-words.ts";
import { findQualifiers, readStates } from "./qualifiers.ts";
import { CONTAINERS, DATA_FORMATS, isVague, splitWords } from "./verbs.ts";

export interface ProposedName {
  readonly name: string;
  /** From 0 to 1: 0.3 for the tools, 0.3 for the intent, 0.4 for the form. */
  readonly confidence: number;
  readonly reasoning: string;
  /** Words that tell it apart from another program of the same name, most specific first. */
  readonly qualifiers: readonly string[];
}

/**
 * Proposes a name for what the program does. Its calls provide verb and object; an intent has a say where the tools
 * serve any purpose or where there are none. The intent with the highest confidence counts.
 */
export function proposeName(nameable: Nameable): ProposedName {
  const intents = nameable.intents.length === 0 ? [""] : nameable.intents;
  const proposals = intents.map((intent) => propose(nameable, intent));
  return proposals.reduce((best, each) => (each.confidence > best.confidence ? each : best));
}

function propose(nameable: Nameable, intent: string): ProposedName {
  const inferred = inferNamespace(nameable.tools);
  const clues = readProgram(nameable);
  const phrase = withoutTask(
    readIntent(intent, (word) => isKnown(word, clues)),
    clues,
  );
  const chosen = chooseWords(phrase, clues, intent);
  const namespace = chooseNamespace(inferred, chosen.verb);
  const words = findConversion(chosen.verb, intent) ?? [chosen.verb, ...shortenTarget(chosen.target, namespace)];
  const name = fit(namespace, words);
  const parts = rateName({ ...nameable, intents: [intent] }, name);
  const spare = [...chosen.target, ...phrase.qualifiers, ...nameable.parameters];
  const left = [...findQualifiers(nameable.structure, clues), ...spare.filter((word) => !clues.taskWords.has(word))];
  return {
    name,
    confidence: weighConfidence(parts),
    reasoning: explain({ namespace, inferred, chosen, intent, parts }),
    qualifiers: [...new Set(left)].filter(
      (word) => /^[a-z][a-z_]*$/.test(word) && !words.includes(word) && !isVague(word),
    ),
  };
}

interface ChosenWords {
  readonly verb: string;
  readonly target: readonly string[];
  readonly from: "intent" | "tools" | "both";
}

/** Keeps the words of an intent that say what the program does, whatever the task. */
function withoutTask({ target, qualifiers, ...phrase }: IntentPhrase, clues: ProgramClues): IntentPhrase {
  return {
    ...phrase,
    target: target.filter((word) => isAdmitted(word, clues)),
    qualifiers: clues.general ? qualifiers.filter((word) => isKnown(word, clues)) : [],
  };
}

/** A word of an intent may be part of a name if the program has it too, or if it is nobody's in particular. */
function isAdmitted(word: string, clues: ProgramClues): boolean {
  const parts = word.split("_");
  if (parts.every((part) => /^[a-z]+$/.test(part) && isKnown(part, clues))) return true;
  return parts.every((part) => !clues.taskWords.has(part) && (isCommon(part) || DATA_FORMATS.has(part)));
}

function chooseWords(phrase: IntentPhrase, clues: ProgramClues, intent: string): ChosenWords {
  if (!clues.general && !isGeneric(intent, clues))
    return { verb: clues.verb ?? "run", target: withStates(clues, intent), from: "tools" };
  const telling = isSaid(phrase, clues) ? phrase.target.filter((word) => !isVague(word)) : [];
  if (telling.length === 0) return { verb: clues.verb ?? phrase.verb ?? "run", target: clues.target, from: "tools" };
  if (phrase.verb !== undefined) return { verb: phrase.verb, target: telling, from: "intent" };
  return { verb: verbForNoun(phrase, clues, telling), target: telling, from: "both" };
}

const LONGEST_GENERIC = 14;

/**
 * Tells whether an intent speaks of any task of its kind rather than of this one: a short command without names, ids
 * or values, all of whose object may be part of a name, and about things that the program knows.
 */
function isGeneric(intent: string, clues: ProgramClues): boolean {
  const words = splitWords(intent.toLowerCase());
  if (words.length > LONGEST_GENERIC || words.some((word) => clues.taskWords.has(word) && !isKnown(word, clues)))
    return false;
  const { verb, asked, target, qualifiers } = readIntent(intent, (word) => isKnown(word, clues));
  return (
    verb !== undefined &&
    !asked &&
    target.length > 0 &&
    target.every((word) => isAdmitted(word, clues)) &&
    [...target, ...qualifiers].some((word) => isKnown(word, clues))
  );
}

/** A program that changes something is not named after a question, nor after a noun. */
function isSaid({ verb, asked }: IntentPhrase, { main }: ProgramClues): boolean {
  if (main === undefined || main.words.effect === "read") return true;
  return verb !== undefined && !asked && !LOOKING.has(verb);
}

/** Adds the state that intent and program both name: `list_open_issues`. */
function withStates({ target, calls }: ProgramClues, intent: string): readonly string[] {
  const object = toSingular(target.at(-1) ?? "");
  const words = intent.toLowerCase().match(/[a-z]+/g) ?? [];
  const states = new Set(calls.flatMap(readStates));
  const said = words.find(
    (word, index) => states.has(word) && !target.includes(word) && toSingular(words[index + 1] ?? "") === object,
  );
  return said === undefined ? target : [said, ...target];
}

/** Tool verbs that go with a noun of the intent, unlike `run` or `execute`. */
const LOOKING = new Set(["get", "list", "find", "search", "query", "read", "count", "fetch", "blame", "check"]);

function verbForNoun({ asked }: IntentPhrase, clues: ProgramClues, target: readonly string[]): string {
  if (clues.verb !== undefined && LOOKING.has(clues.verb)) return clues.verb;
  if (target.at(-1)?.endsWith("s") === true) return "list";
  return asked ? "find" : "get";
}

const CONVERTING = new Set(["convert", "transform", "turn", "translate", "export", "parse", "format"]);
const RESHAPING = new Set([
  ...CONVERTING,
  "flatten",
  "normalise",
  "normalize",
  "validate",
  "merge",
  "split",
  "sort",
  "group",
  "filter",
]);

function chooseNamespace({ namespace, tools }: InferredNamespace, verb: string): string {
  if (tools.length > 0) return namespace;
  return RESHAPING.has(verb) ? "transform" : NAMESPACE_WITHOUT_RULE;
}

/** `convert a CSV file to JSON` becomes `csv_to_json`. */
function findConversion(verb: string, intent: string): string[] | undefined {
  if (!CONVERTING.has(verb)) return undefined;
  const found = /\b(\w+)(?: files?| data| text)? (?:in)?to (?:an? )?(\w+)/.exec(intent.toLowerCase());
  const [, from = "", to = ""] = found ?? [];
  return DATA_FORMATS.has(from) && DATA_FORMATS.has(to) ? [from, "to", to] : undefined;
}

/** In `fs` every object is a file: `read_json`, not `read_json_config_file`. */
function shortenTarget(target: readonly string[], namespace: string): readonly string[] {
  if (namespace !== "fs" || target.length < 2) return target;
  const format = target.find((word) => DATA_FORMATS.has(word));
  if (format !== undefined) return [format];
  return CONTAINERS.has(target.at(-1) ?? "") && target.length > 2 ? target.slice(0, -1) : target;
}

/** Builds the longest legal name from these words. */
function fit(namespace: string, words: readonly string[]): string {
  for (let count = words.length; count > 1; count -= 1) {
    const name = `${namespace}:${words.slice(0, count).join("_")}`;
    if (name.length <= LONGEST_NAME) return name;
  }
  return `${namespace}:${words[0] ?? "run"}`.slice(0, LONGEST_NAME);
}

interface NameEvidence {
  readonly namespace: string;
  readonly inferred: InferredNamespace;
  readonly chosen: ChosenWords;
  readonly intent: string;
  readonly parts: ConfidenceParts;
}

function explain({ namespace, inferred, chosen, intent, parts }: NameEvidence): string {
  const why = inferred.tools.length === 0 ? "no tools" : inferred.tools.join(", ");
  const said = `"${[chosen.verb, ...chosen.target].join(" ")}"`;
  const sources = {
    intent: `${said} from the intent "${intent}"`,
    both: `${said} from the intent "${intent}" and the tools`,
    tools: `${said} from the tools, since the intent "${intent}" does not say it`,
  };
  return `${namespace} by ${why}; ${sources[chosen.from]}; ${describeParts(parts)}`;
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

export function describeParts({ tools, intent, pattern }: ConfidenceParts): string {
  return `tools ${percent(tools)}, intent ${percent(intent)}, pattern ${percent(pattern)}`;
}
