import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Node } from "../syntax-tree.ts";
import { HOLE, type LiteralList, literalValue, operation, type ParameterPart, partsOf, type Term } from "./term.ts";

/** The parameters of the program as a whole. */
export const ARGS = operation("args");

/** The item of a list that is written out in the program or comes from outside. */
export function outsideList(over: Term): Term | undefined {
  if (over.kind === "hole") return over.parameter === undefined ? over : toItem(over.parameter);
  const literal = literalValue(over);
  if (literal === undefined || !Array.isArray(literal.value)) return undefined;
  const value = literal.value as readonly JsonValue[];
  return { kind: "hole", list: { origin: literal.origin, value, parts: value, path: [] } };
}

function toItem(parameter: ParameterPart): Term {
  // Lists of lists are bound as a whole.
  return parameter.item === undefined ? { kind: "hole", parameter: { ...parameter, item: [] } } : HOLE;
}

export function memberOf(object: Term, key: string): Term {
  // A member of a parameter is a parameter.
  if (object === ARGS) return parameterHole(key);
  if (object.kind === "hole") return memberOfHole(object, key);
  if (object.kind === "object") {
    const entry = object.entries.findLast((each) => each.key === key || each.key === undefined);
    if (entry?.key === key) return entry.value;
  }
  if (object.kind === "list") {
    const item = /^\d+$/.test(key) ? object.items[Number(key)] : undefined;
    const isPlain = object.items.every((each) => each.kind !== "operation" || each.name !== "spread");
    if (item !== undefined && isPlain) return item;
  }
  return operation(`.${key}`, object);
}

export function parameterHole(name: string): Term {
  return { kind: "hole", parameter: { path: [name] } };
}

function memberOfHole(hole: Extract<Term, { kind: "hole" }>, key: string): Term {
  const { list, parameter } = hole;
  if (list !== undefined) return { kind: "hole", list: pick(list, key) };
  if (parameter === undefined) return hole;
  const { path, item } = parameter;
  return {
    kind: "hole",
    parameter: item === undefined ? { path: [...path, key] } : { path, item: [...item, key] },
  };
}

function pick({ origin, value, parts, path }: LiteralList, key: string): LiteralList {
  const picked = parts.map((part) => (isObject(part) ? (part as JsonObject)[key] : undefined));
  return { origin, value, parts: picked, path: [...path, key] };
}

export function isText(term: Term): boolean {
  return (
    (term.kind === "literal" && typeof term.value === "string") || (term.kind === "operation" && term.name === "concat")
  );
}

/** A text that stands in the expression itself belongs to it; one that came by name is a value. */
export function asText(term: Term, node: Node): Term {
  return term.kind === "literal" && term.origin === node && typeof term.value === "string"
    ? operation(`text ${JSON.stringify(term.value)}`)
    : term;
}

export function concatenation(parts: readonly Term[]): Term {
  const flat = parts.flatMap((part) => (part.kind === "operation" && part.name === "concat" ? part.parts : [part]));
  return operation("concat", ...flat);
}

const readers = new WeakMap<Term, boolean>();

/** A value that reads a variable holds only at its place. */
export function readsVariable(term: Term): boolean {
  if (term.kind === "variable") return true;
  const known = readers.get(term) ?? partsOf(term).some(readsVariable);
  readers.set(term, known);
  return known;
}
