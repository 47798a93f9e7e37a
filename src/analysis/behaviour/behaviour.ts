import { createHash } from "node:crypto";
import type { JsonValue } from "../../base/json.ts";
import type { Node } from "../syntax-tree.ts";
import { writeCanonical } from "./canonical-text.ts";
import { evaluate } from "./evaluate.ts";
import type { EvaluatedProgram, ProgramParts } from "./evaluated-program.ts";
import type { Lifted } from "./lift-arguments.ts";
import { type Effect, UnknownConstruct } from "./term.ts";
import { innerSteps } from "./steps.ts";

/** Prefix of the hashed text, so that keys of two canonical forms never meet. */
const VERSION = "pml-behaviour-1";

export interface Behaviour {
  /** Equal for programs that do the same with other values, in other words. It nominates and proves nothing. */
  readonly key: string;
  /** The hashed text. */
  readonly text: string;
  readonly evaluated: EvaluatedProgram;
  /** The program has a variable of its own called `args`. */
  readonly hidesArgs: boolean;
}

/** Finds what a program does; undefined where it calls no tool or has a construct that the canonical form does not know. */
export function findBehaviour(body: readonly Node[], parts: ProgramParts): Behaviour | undefined {
  try {
    const evaluated = evaluate(body, parts);
    if (!evaluated.effects.some(hasCall)) return undefined;
    const text = writeCanonical(evaluated.effects, linkedValues(evaluated.lifted));
    return {
      key: createHash("sha256").update(`${VERSION}\n${text}`).digest("hex"),
      text,
      evaluated,
      hidesArgs: parts.scopes.isDeclared("args"),
    };
  } catch (error) {
    if (error instanceof UnknownConstruct) return undefined;
    throw error;
  }
}

const SHORTEST_LINKED = 3;

/** Values that stand for the same thing wherever the program repeats them; short ones repeat by chance. */
export function linkedValues(lifted: readonly Lifted[]): ReadonlySet<JsonValue> {
  const values = lifted.flatMap(({ value }) => (Array.isArray(value) ? value : [value]));
  return new Set(
    values.filter(
      (value) => (typeof value === "string" || typeof value === "number") && String(value).length >= SHORTEST_LINKED,
    ),
  );
}

function hasCall(effect: Effect): boolean {
  return effect.kind === "call" || innerSteps(effect).some(hasCall);
}
