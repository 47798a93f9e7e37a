import { parseName, STANDARD_NAMESPACES } from "../registry/names.ts";
import { readIntent } from "./intent-phrase.ts";
import { inferNamespace } from "./namespace-rules.ts";
import { type ProgramClues, readProgram } from "./program-clues.ts";
import type { Nameable } from "./nameable.ts";
import { findVerb, isVague } from "./verbs.ts";

/** Evidence for a name, each part from 0 to 1. */
export interface ConfidenceParts {
  /** Share of tools that support the namespace. */
  readonly tools: number;
  /** Agreement of verb and object with the intent. */
  readonly intent: number;
  /** Conformance to the form of names. */
  readonly pattern: number;
}

const WEIGHTS: ConfidenceParts = { tools: 0.3, intent: 0.3, pattern: 0.4 };

export function weighConfidence(parts: ConfidenceParts): number {
  const sum = WEIGHTS.tools * parts.tools + WEIGHTS.intent * parts.intent + WEIGHTS.pattern * parts.pattern;
  return Math.round(sum * 100) / 100;
}

/** Rates a name from heuristics, a model or a person. */
export function rateName(nameable: Nameable, name: string): ConfidenceParts {
  const parsed = parseName(name);
  if (parsed === undefined) return { tools: 0, intent: 0, pattern: 0 };
  const { namespace = inferNamespace(nameable.tools).namespace } = parsed;
  const words = parsed.action.toLowerCase().split(/[_-]/);
  const clues = readProgram(nameable);
  return {
    tools: rateTools(nameable.tools, namespace),
    intent: Math.max(0, ...nameable.intents.map((intent) => rateIntent(intent, words, clues))),
    pattern: ratePattern(namespace, words),
  };
}

/** Without tools there is nothing to check the namespace against. */
const TOOLLESS_MATCH = 0.5;

function rateTools(tools: readonly string[], namespace: string): number {
  if (tools.length === 0) return TOOLLESS_MATCH;
  const inferred = inferNamespace(tools);
  if (inferred.namespace === namespace) return inferred.match;
  const own = tools.filter((tool) => inferNamespace([tool]).namespace === namespace);
  // A custom namespace is legal, but no tool supports it.
  return own.length === 0 ? 0.2 : own.length / tools.length;
}

const VERB = 0.4;
const TARGET = 0.4;
const CONFIRMED = 0.2;
/** Weight of a verb that the intent only implies. */
const IMPLIED = 0.15;
/** Weight of an object without a verb. */
const TARGET_ALONE = 0.25;

function rateIntent(intent: string, [verb = "", ...target]: readonly string[], clues: ProgramClues): number {
  const phrase = readIntent(intent, (word) => isKnown(word, clues));
  const words = intent.toLowerCase().match(/[a-z]+/g) ?? [];
  const said = [...phrase.target, ...phrase.qualifiers, ...words].flatMap(bothNumbers);
  const telling = target.filter((word) => !isVague(word));
  const named = telling.filter((word) => said.includes(word));
  const isVerbSaid = phrase.verb === verb || words.some((word) => word !== "" && findVerb(word) === verb);
  if (named.length === 0) return isVerbSaid ? IMPLIED : 0;
  const share = named.length / telling.length;
  const confirmed = telling.some((word) => isKnown(word, clues)) ? CONFIRMED : 0;
  if (phrase.verb === undefined && !isVerbSaid) return TARGET_ALONE * share + confirmed;
  return (isVerbSaid ? VERB : IMPLIED) + TARGET * share + confirmed;
}

/** Tells whether the program uses the word as well. */
export function isKnown(word: string, { vocabulary }: ProgramClues): boolean {
  return bothNumbers(word).some((form) => vocabulary.has(form));
}

/** Singular and plural forms. */
function bothNumbers(word: string): string[] {
  const singular = word.replace(/s$/, "");
  return [word, singular, `${singular}s`];
}

const READABLE_LENGTH = 28;
const MAX_WORDS = 4;

function ratePattern(namespace: string, words: readonly string[]): number {
  const standard = STANDARD_NAMESPACES.includes(namespace);
  const hasTarget = words.length > 1;
  const short = words.length <= MAX_WORDS && words.join("_").length <= READABLE_LENGTH;
  const clear = hasTarget && !words.slice(1).every(isVague);
  const begins = findVerb(words[0] ?? "") !== undefined || words.includes("to");
  return (standard ? 0.3 : 0) + (hasTarget ? 0.25 : 0) + (begins ? 0.15 : 0) + (short ? 0.15 : 0) + (clear ? 0.15 : 0);
}
