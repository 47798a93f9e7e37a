import { isObject, type JsonSchema, type JsonValue } from "../../base/json.ts";
import type { Node } from "../syntax-tree.ts";
import { CONVERSIONS } from "./pure.ts";
import { HOLE, literalValue, operation, type Term } from "./term.ts";

/** Where a value goes: the tool, and the path of the argument, as in `["filter", "status"]`. */
export interface Role {
  readonly target: string;
  readonly path: readonly string[];
  readonly schema: JsonSchema | undefined;
}

/** A literal that a tool gets: the value is not part of what the program does. */
export interface Lifted extends Role {
  readonly origin: Node;
  readonly value: JsonValue;
  /** The items of a list are passed one by one. */
  readonly each: boolean;
}

/** Turns literals in an argument into holes, objects key by key, and notes them. */
export function liftArgument(term: Term, role: Role, found: Lifted[]): Term {
  if (term.kind === "object") {
    const entries = term.entries.map(({ key, value }) => ({
      key,
      value: liftArgument(value, roleOf(role, key), found),
    }));
    return { kind: "object", entries };
  }
  const literal = literalValue(term);
  if (literal !== undefined) {
    found.push({ ...role, origin: literal.origin, value: literal.value, each: false });
    return HOLE;
  }
  if (term.kind === "hole" && term.list !== undefined) {
    const { origin, value, parts } = term.list;
    found.push({ ...role, origin, value: [...value], each: true });
    return shapeOf(parts);
  }
  return term.kind === "operation" ? liftInside(term, role, found) : term;
}

/**
 * In a computed argument a literal is a value where it was put into a text by name, where a method is called on it, and
 * where it is converted. Other literals belong to the computation.
 */
function liftInside({ name, parts }: Extract<Term, { kind: "operation" }>, role: Role, found: Lifted[]): Term {
  const inside = { ...role, schema: undefined };
  const lifted = parts.map((part, index) => {
    const isValue = name === "concat" || (index === 0 && (name.endsWith("()") || CONVERSIONS.has(name)));
    return part.kind === "operation" || (part.kind === "literal" && isValue) ? liftArgument(part, inside, found) : part;
  });
  return operation(name, ...lifted);
}

function roleOf({ target, path, schema }: Role, key: string | undefined): Role {
  if (key === undefined) return { target, path, schema: undefined };
  const properties = schema?.["properties"] as Readonly<Record<string, JsonSchema>> | undefined;
  return { target, path: [...path, key], schema: properties?.[key] };
}

/** The item of a list of alike objects has their keys, as if it were written out. */
function shapeOf([first, ...others]: readonly (JsonValue | undefined)[]): Term {
  if (!isObject(first)) return HOLE;
  const keys = Object.keys(first).toSorted();
  const areAlike = others.every((other) => isObject(other) && keys.join() === Object.keys(other).toSorted().join());
  return areAlike ? { kind: "object", entries: keys.map((key) => ({ key, value: HOLE })) } : HOLE;
}
