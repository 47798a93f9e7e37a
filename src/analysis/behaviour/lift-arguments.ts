import { isObject, type JsonSchema, type JsonValue } from "../../base/json.ts";
import type { Node } from "../syntax-tree.ts";
import { CONVERSIONS } from "./pure.ts";
import { HOLE, type LiteralList, literalValue, operation, type ParameterPart, type Term } from "./term.ts";

/** Where a value goes: the tool, and the path of the argument, as in `["filter", "status"]`. */
export interface Role {
  /** Number of the call in the program, from 0. */
  readonly call: number;
  readonly target: string;
  readonly path: readonly string[];
  readonly schema: JsonSchema | undefined;
}

/** A value from outside that a tool gets: it is not part of what the program does. */
export interface Place extends Role {
  readonly source:
    | { readonly kind: "literal"; readonly origin: Node; readonly value: JsonValue }
    | { readonly kind: "list"; readonly list: LiteralList }
    | { readonly kind: "parameter"; readonly part: ParameterPart };
}

/** A place whose value is written in the program. */
export interface Lifted extends Role {
  readonly origin: Node;
  readonly value: JsonValue;
  /** The items of a list are passed one by one. */
  readonly each: boolean;
}

export function toLifted({ source, ...role }: Place): Lifted[] {
  if (source.kind === "parameter") return [];
  if (source.kind === "literal") return [{ ...role, origin: source.origin, value: source.value, each: false }];
  return [{ ...role, origin: source.list.origin, value: [...source.list.value], each: true }];
}

/** Turns literals in an argument into holes, objects key by key, and notes where values from outside go. */
export function liftArgument(term: Term, role: Role, found: Place[]): Term {
  if (term.kind === "object") {
    const entries = term.entries.map(({ key, value }) => ({
      key,
      value: liftArgument(value, roleOf(role, key), found),
    }));
    return { kind: "object", entries };
  }
  const literal = literalValue(term);
  if (literal !== undefined) {
    found.push({ ...role, source: { kind: "literal", ...literal } });
    return HOLE;
  }
  if (term.kind === "hole") {
    noteHole(term, role, found);
    return term.list === undefined ? term : shapeOf(term.list.parts);
  }
  return term.kind === "operation" ? liftInside(term, role, found) : term;
}

function noteHole({ list, parameter }: Extract<Term, { kind: "hole" }>, role: Role, found: Place[]): void {
  if (parameter !== undefined) found.push({ ...role, source: { kind: "parameter", part: parameter } });
  if (list !== undefined) found.push({ ...role, source: { kind: "list", list } });
}

/**
 * In a computed argument a literal is a value where it was put into a text by name, where a method is called on it, and
 * where it is converted. Other literals belong to the computation.
 */
function liftInside({ name, parts }: Extract<Term, { kind: "operation" }>, role: Role, found: Place[]): Term {
  const inside = { ...role, schema: undefined };
  const lifted = parts.map((part, index) => {
    const isValue = name === "concat" || (index === 0 && (name.endsWith("()") || CONVERSIONS.has(name)));
    if (part.kind === "hole") noteHole(part, inside, found);
    return part.kind === "operation" || (part.kind === "literal" && isValue) ? liftArgument(part, inside, found) : part;
  });
  return operation(name, ...lifted);
}

function roleOf({ call, target, path, schema }: Role, key: string | undefined): Role {
  if (key === undefined) return { call, target, path, schema: undefined };
  const properties = schema?.["properties"] as Readonly<Record<string, JsonSchema>> | undefined;
  return { call, target, path: [...path, key], schema: properties?.[key] };
}

/** The item of a list of alike objects has their keys, as if it were written out. */
function shapeOf([first, ...others]: readonly (JsonValue | undefined)[]): Term {
  if (!isObject(first)) return HOLE;
  const keys = Object.keys(first).toSorted();
  const areAlike = others.every((other) => isObject(other) && keys.join() === Object.keys(other).toSorted().join());
  return areAlike ? { kind: "object", entries: keys.map((key) => ({ key, value: HOLE })) } : HOLE;
}
