import type { JsonSchema } from "../base/json.ts";
import { bindingOf } from "./bindings.ts";
import { type Node, type NodeOf, staticKey } from "./syntax-tree.ts";
import type { ValueFlow } from "./value-flow.ts";

/** A parameter of a tool that a property of an object becomes. */
interface Place {
  /** Undefined where the tool says nothing about it. */
  readonly schema: JsonSchema | undefined;
  /** True if the tool works without a value. */
  readonly accepts: boolean;
}

/** Objects in objects; deeper than arguments are. */
const MAX_DEPTH = 10;

/** Finds where the properties of an object literal go: into calls of tools, directly, nested, or by a variable's name. */
export function findPlaces(property: NodeOf<"Property">, { values }: { readonly values: ValueFlow }): Place[] {
  const path: string[] = [];
  let inner = property;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const name = staticKey(inner);
    const object = inner.parent;
    if (name === undefined || object?.type !== "ObjectExpression") return [];
    path.unshift(name);
    const outer = object.parent;
    if (outer?.type !== "Property" || outer.value !== object) return callsWith(object, values, path);
    inner = outer;
  }
  return [];
}

function callsWith(object: Node, { sites }: ValueFlow, path: readonly string[]): Place[] {
  const uses = usesOf(object);
  const places = uses.flatMap(({ parent: call, ...use }): Place[] => {
    if (call?.type !== "CallExpression" || call.arguments[0]?.start !== use.start) return [];
    const input = sites.get(call)?.tool?.inputSchema;
    return input === undefined ? [] : [placeAt(input, path)];
  });
  return places.length === uses.length ? places : places.map(({ schema }) => ({ schema, accepts: false }));
}

function placeAt(input: JsonSchema, path: readonly string[]): Place {
  let schema: JsonSchema | undefined = input;
  let isRequired = true;
  for (const name of path) {
    isRequired = requiredOf(schema).includes(name);
    schema = propertyOf(schema, name);
  }
  return { schema, accepts: schema !== undefined && !isRequired };
}

/** The expression itself, or the reads of the variable that always has its value. */
export function usesOf(expression: Node): readonly Node[] {
  const { parent } = expression;
  if (parent?.type !== "VariableDeclarator" || parent.init !== expression) return [expression];
  const binding = bindingOf(parent.id);
  return binding?.writes.length === 1 ? binding.reads : [];
}

export function propertyOf(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  const properties = schema?.["properties"];
  if (typeof properties !== "object" || properties === null || !Object.hasOwn(properties, name)) return undefined;
  const found: unknown = (properties as Record<string, unknown>)[name];
  return typeof found === "object" && found !== null ? (found as JsonSchema) : undefined;
}

export function requiredOf(schema: JsonSchema | undefined): readonly unknown[] {
  const required = schema?.["required"];
  return Array.isArray(required) ? required : [];
}
