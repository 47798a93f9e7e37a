import { isObject, type JsonObject } from "../../base/json.ts";
import { smoothedRate } from "../track-record.ts";
import { SURE } from "./confidence.ts";
import { findValues } from "./delexicalise.ts";
import type { ArgumentSource } from "./fill-arguments.ts";
import type { MatchedCapability } from "./match-capabilities.ts";
import type { Calibration } from "./outcomes.ts";

export interface RunConditions {
  readonly intent: string;
  readonly given: JsonObject;
  /** Minimum confidence to run a capability unasked; below `SURE` a person took the risk. */
  readonly runAbove: number;
  readonly calibration: Calibration;
}

/** Minimum success rate to run a capability unasked. */
const POOR_RATE = 0.5;

/** Sources of arguments to run with: parts of an intent are guesses and need proof. */
const TRUSTED: readonly ArgumentSource[] = ["given", "enum", "seen"];

/** The arguments with which a capability may run unasked. */
export function trustedArguments({ filled }: MatchedCapability, { isProven }: Calibration): JsonObject {
  const { args, sources } = filled;
  const isTrusted = (name: string): boolean => {
    const source = sources[name] ?? "span";
    return TRUSTED.includes(source) || (source === "span" && isProven);
  };
  return Object.fromEntries(Object.entries(args).filter(([name]) => isTrusted(name)));
}

/** The reason not to run the best capability unasked; empty if there is none. */
export function whyNot(best: MatchedCapability | undefined, conditions: RunConditions): string {
  const { runAbove, calibration } = conditions;
  if (best === undefined) return "No capability is related to this intent.";
  const { known, confidence } = best;
  const { name, observed } = known;
  if (confidence < runAbove)
    return `No capability is surely meant: the best, ${name}, with a confidence of ${confidence} (needed: ${runAbove}).`;
  if (runAbove >= SURE && !calibration.isProven)
    return `${name} fits with a confidence of ${confidence}, but too few suggestions were followed so far to rely on it.`;
  if (smoothedRate(observed) < POOR_RATE)
    return `${name} fits, but only ${observed.successes} of its ${observed.uses} runs succeeded.`;
  const problem = findArgumentProblem(best, conditions);
  return problem === undefined ? "" : `${name} fits, but ${problem}.`;
}

/** The task must be all in the arguments, and the arguments all from the task. */
function findArgumentProblem(best: MatchedCapability, conditions: RunConditions): string | undefined {
  const { intent, given, calibration } = conditions;
  const { parameters } = best.known;
  const properties = isObject(parameters["properties"]) ? Object.keys(parameters["properties"]) : [];
  if (properties.length === 0 && findValues(intent).length > 0)
    return "has no parameters: it would do the same whatever the intent says";
  const unused = Object.keys(given).filter((key) => !properties.includes(key));
  if (unused.length > 0 && parameters["additionalProperties"] !== true) return `does not take ${unused.join(", ")}`;
  const bound = trustedArguments(best, calibration);
  const required = (parameters["required"] ?? []) as readonly string[];
  const missing = required.filter((each) => !Object.hasOwn(bound, each));
  return missing.length === 0 ? undefined : `needs ${missing.join(", ")}`;
}
