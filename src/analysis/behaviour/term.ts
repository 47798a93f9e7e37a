import type { JsonValue } from "../../base/json.ts";
import type { Node } from "../syntax-tree.ts";

/** A symbolic value of a program. */
export type Term =
  /** Written in the program; `origin` is the expression that has the value. */
  | { readonly kind: "literal"; readonly value: JsonValue; readonly origin: Node }
  /** Comes from outside: a parameter, or a literal in its place. */
  | { readonly kind: "hole"; readonly list?: LiteralList; readonly parameter?: ParameterPart }
  | { readonly kind: "result"; readonly of: CallEffect | LoopEffect }
  /** The element that an iteration or callback is at; `depth` distinguishes nested ones. */
  | { readonly kind: "item"; readonly depth: number; readonly index: number }
  | { readonly kind: "variable"; readonly variable: Variable }
  | { readonly kind: "operation"; readonly name: string; readonly parts: readonly Term[] }
  | { readonly kind: "object"; readonly entries: readonly ObjectEntry[] }
  | { readonly kind: "list"; readonly items: readonly Term[]; readonly origin: Node }
  /** A callback without effects. */
  | { readonly kind: "lambda"; readonly value: Term };

/** A list that is written out in the program and run through. */
export interface LiteralList {
  readonly origin: Node;
  readonly value: readonly JsonValue[];
  /** The part of each item that the hole stands for, and where it is in the item. */
  readonly parts: readonly (JsonValue | undefined)[];
  readonly path: readonly string[];
}

/** A part of `args`. */
export interface ParameterPart {
  readonly path: readonly string[];
  /** Set for a list that is run through: where the part is in each item. */
  readonly item?: readonly string[];
}

/** An entry without a key spreads its value. */
export interface ObjectEntry {
  readonly key: string | undefined;
  readonly value: Term;
}

/** A variable that is assigned or filled more than once. */
export interface Variable {
  readonly name: string;
}

export interface CallEffect {
  readonly kind: "call";
  /** `server:tool`, or `capability name`. */
  readonly target: string;
  readonly args: readonly Term[];
}

export interface LoopEffect {
  readonly kind: "loop";
  /** `each` for all ways to run through a list; otherwise the method or statement. */
  readonly name: string;
  readonly over: Term;
  readonly body: readonly Effect[];
  /** The value of a callback. */
  readonly value: Term | undefined;
}

/** One step of a program, in the order in which it runs. */
export type Effect =
  | CallEffect
  | LoopEffect
  | {
      readonly kind: "branch";
      readonly name: string;
      readonly test: Term;
      readonly arms: readonly { readonly label: Term | undefined; readonly body: readonly Effect[] }[];
    }
  | { readonly kind: "set"; readonly variable: Variable; readonly value: Term }
  /** Stores values inside of an object or list: `list.push(x)`, `object.key = x`. */
  | { readonly kind: "fill"; readonly variable: Variable; readonly values: readonly Term[] }
  /** A call whose effects are unknown. */
  | { readonly kind: "do"; readonly term: Term }
  | {
      readonly kind: "leave";
      readonly how: "return" | "throw" | "break" | "continue";
      readonly value: Term | undefined;
    };

/** A construct that the canonical form does not know; the program is then identified by its text. */
export class UnknownConstruct extends Error {}

export function operation(name: string, ...parts: readonly Term[]): Term {
  return { kind: "operation", name, parts };
}

export const UNDEFINED = operation("undefined");
export const HOLE: Term = { kind: "hole" };

/** The parts of a term, one level deep. */
export function partsOf(term: Term): readonly Term[] {
  switch (term.kind) {
    case "operation":
      return term.parts;
    case "object":
      return term.entries.map(({ value }) => value);
    case "list":
      return term.items;
    case "lambda":
      return [term.value];
    case "literal":
    case "hole":
    case "result":
    case "item":
    case "variable":
    default:
      return [];
  }
}

const sizes = new WeakMap<Term, number>();

/** How many terms a term has when it is written out; parts that are shared count each time. */
export function sizeOf(term: Term): number {
  const known = sizes.get(term) ?? partsOf(term).reduce((sum, part) => sum + sizeOf(part), 1);
  sizes.set(term, known);
  return known;
}

/** The JSON value of a term that is written out in the program. */
export function literalValue(term: Term): { readonly value: JsonValue; readonly origin: Node } | undefined {
  if (term.kind === "literal") return term;
  if (term.kind !== "list") return undefined;
  const values: JsonValue[] = [];
  for (const item of term.items) {
    const value = item.kind === "object" ? objectValue(item.entries) : literalValue(item)?.value;
    if (value === undefined) return undefined;
    values.push(value);
  }
  return { value: values, origin: term.origin };
}

function objectValue(entries: readonly ObjectEntry[]): JsonValue | undefined {
  const values: [string, JsonValue][] = [];
  for (const { key, value } of entries) {
    const known = value.kind === "object" ? objectValue(value.entries) : literalValue(value)?.value;
    if (key === undefined || known === undefined) return undefined;
    values.push([key, known]);
  }
  return Object.fromEntries(values);
}
