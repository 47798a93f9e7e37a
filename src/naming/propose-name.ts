import { LONGEST_NAME } from "../registry/names.ts";
import { type IntentPhrase, readIntent } from "./intent-phrase.ts";
import type { Nameable } from "./nameable.ts";
import { type InferredNamespace, inferNamespace, NAMESPACE_WITHOUT_RULE } from "./namespace-rules.ts";
import { type ProgramClues, readProgram } from "./program-clues.ts";
import { type ConfidenceParts, isKnown, rateName, weighConfidence } from "./rate-name.ts";
import { CONTAINERS, DATA_FORMATS, isVague } from "./verbs.ts";

export interface ProposedName {
  readonly name: string;
  /** From 0 to 1: 0.3 for the tools, 0.3 for the intent, 0.4 for the form. */
  readonly confidence: number;
  readonly reasoning: string;
  /** Words that tell it apart from another program of the same name, most specific first. */
  readonly qualifiers: readonly string[];
}

/** Proposes the name with the highest confidence over all intents; without an intent, tools provide the words. */
export function proposeName(nameable: Nameable): ProposedName {
  const intents = nameable.intents.length === 0 ? [""] : nameable.intents;
  const proposals = intents.map((intent) => propose(nameable, intent));
  return proposals.reduce((best, each) => (each.confidence > best.confidence ? each : best));
}

function propose(nameable: Nameable, intent: string): ProposedName {
  const inferred = inferNamespace(nameable.tools);
  const clues = readProgram(nameable);
  const phrase = readIntent(intent, (word) => isKnown(word, clues));
  const chosen = chooseWords(phrase, clues);
  const namespace = chooseNamespace(inferred, chosen.verb);
  const words = findConversion(chosen.verb, intent) ?? [chosen.verb, ...shortenTarget(chosen.target, namespace)];
  const name = fit(namespace, words);
  const parts = rateName({ ...nameable, intents: [intent] }, name);
  const left = [...chosen.target, ...phrase.qualifiers, ...nameable.parameters];
  return {
    name,
    confidence: weighConfidence(parts),
    reasoning: explain({ namespace, inferred, chosen, intent, parts }),
    qualifiers: [...new Set(left)].filter(
      (word) => /^[a-z][a-z0-9]*$/.test(word) && !words.includes(word) && !isVague(word),
    ),
  };
}

interface ChosenWords {
  readonly verb: string;
  readonly target: readonly string[];
  readonly from: "intent" | "tools" | "both";
}

function chooseWords(phrase: IntentPhrase, clues: ProgramClues): ChosenWords {
  const telling = phrase.target.filter((word) => !isVague(word));
  if (telling.length === 0) return { verb: clues.verb ?? phrase.verb ?? "run", target: clues.target, from: "tools" };
  if (phrase.verb !== undefined) return { verb: phrase.verb, target: telling, from: "intent" };
  return { verb: verbForNoun(phrase, clues, telling), target: telling, from: "both" };
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
