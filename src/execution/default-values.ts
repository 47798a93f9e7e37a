import type { LiftedParameter } from "../analysis/behaviour/behaviour-facts.ts";
import type { JsonValue } from "../base/json.ts";

/** The circumstances under which the value of a program may stay the default of a parameter. */
export interface DefaultContext {
  readonly intent: string;
  /** The agent gave the program a name, and means its values. */
  readonly isNamed: boolean;
  readonly isRead: (tool: string) => boolean;
  /** The program changes nothing; otherwise what it reads may decide what it changes. */
  readonly onlyReads: boolean;
  readonly isSecret: (value: JsonValue) => boolean;
}

/**
 * True if the value may stay as a default. What is changed is never named by a default, except by a choice; in a program
 * without a name neither is what stands in the intent or identifies something.
 */
export function isDefault({ value, schema, uses }: LiftedParameter, context: DefaultContext): boolean {
  if (context.isSecret(value)) return false;
  const isChoice = typeof value === "boolean" || Array.isArray(schema["enum"]);
  const isSafe = context.isNamed ? uses.every(({ target }) => context.isRead(target)) : context.onlyReads;
  if (!isChoice && !isSafe) return false;
  return context.isNamed || !(isMentioned(value, context.intent) || isIdentity(value));
}

function isMentioned(value: JsonValue, intent: string): boolean {
  if (Array.isArray(value)) return value.some((each) => isMentioned(each, intent));
  if (typeof value !== "string" && typeof value !== "number") return false;
  const words = String(value).trim().toLowerCase();
  return words !== "" && intent.toLowerCase().includes(words);
}

const LONGEST_CHOICE = 40;
const SMALLEST_ID = 1_000;

/** Ids, addresses, numbers of things, names of people and free text stand for one thing of many. */
function isIdentity(value: JsonValue): boolean {
  if (typeof value === "number") return Math.abs(value) >= SMALLEST_ID;
  if (typeof value === "string")
    return value.length > LONGEST_CHOICE || /[\d@]/.test(value) || /^\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)+$/u.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some((each) => isIdentity(each));
}
