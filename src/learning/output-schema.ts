import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../base/json.ts";

/** The shape of values that were seen: the part of JSON Schema that can be learned from examples. */
export type SeenSchema = {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SeenSchema>>;
  readonly required?: readonly string[];
  readonly items?: SeenSchema;
};

/** Objects with more keys than this, or with ever new ones, are maps, not records. */
const MOST_PROPERTIES = 100;
const DEEPEST = 8;
const MOST_ITEMS_LOOKED_AT = 20;

export function inferSchema(value: JsonValue, depth = 0): SeenSchema {
  if (value === null) return { type: "null" };
  if (typeof value !== "object") return { type: typeof value === "number" ? numberType(value) : typeof value };
  if (depth >= DEEPEST) return { type: Array.isArray(value) ? "array" : "object" };
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS_LOOKED_AT).map((item: JsonValue) => inferSchema(item, depth + 1));
    const [first, ...others] = items;
    return first === undefined ? { type: "array" } : { type: "array", items: others.reduce(mergeSchemas, first) };
  }
  const entries = Object.entries(value as Record<string, JsonValue>);
  if (entries.length > MOST_PROPERTIES) return { type: "object" };
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, item]) => [key, inferSchema(item, depth + 1)])),
    required: entries.map(([key]) => key).toSorted(),
  };
}

/** What fits both; a property is required only where both have it. Merging twice changes nothing. */
export function mergeSchemas(a: SeenSchema, b: SeenSchema): SeenSchema {
  if (isDeepStrictEqual(a, b)) return a;
  const types = mergeTypes(typesOf(a), typesOf(b));
  const items = mergeOptional(a.items, b.items);
  const properties = mergeProperties(a, b);
  return {
    type: types.length === 1 ? (types[0] as string) : types,
    ...(properties === undefined ? {} : { properties, required: requiredInBoth(a, b) }),
    ...(items === undefined ? {} : { items }),
  };
}

function mergeProperties(a: SeenSchema, b: SeenSchema): Record<string, SeenSchema> | undefined {
  const isMap = (schema: SeenSchema): boolean => typesOf(schema).includes("object") && schema.properties === undefined;
  if (isMap(a) || isMap(b)) return undefined;
  const names = new Set([...Object.keys(a.properties ?? {}), ...Object.keys(b.properties ?? {})]);
  if (names.size > MOST_PROPERTIES || (a.properties ?? b.properties) === undefined) return undefined;
  return Object.fromEntries(
    [...names].map((name) => [name, mergeOptional(a.properties?.[name], b.properties?.[name]) ?? {}]),
  );
}

/** Where only one side is an object at all, what it requires stays required of objects. */
function requiredInBoth(a: SeenSchema, b: SeenSchema): string[] {
  const own = (schema: SeenSchema): ReadonlySet<string> | undefined =>
    schema.properties === undefined ? undefined : new Set(schema.required);
  const [ofA, ofB] = [own(a), own(b)];
  if (ofA === undefined || ofB === undefined) return [...(ofA ?? ofB ?? [])];
  return [...ofA].filter((name) => ofB.has(name));
}

function mergeOptional(a: SeenSchema | undefined, b: SeenSchema | undefined): SeenSchema | undefined {
  return a === undefined || b === undefined ? (a ?? b) : mergeSchemas(a, b);
}

function typesOf({ type }: SeenSchema): readonly string[] {
  return type === undefined ? [] : typeof type === "string" ? [type] : type;
}

function mergeTypes(a: readonly string[], b: readonly string[]): string[] {
  const all = new Set([...a, ...b]);
  if (all.has("number")) all.delete("integer");
  return [...all].toSorted();
}

function numberType(value: number): string {
  return Number.isInteger(value) ? "integer" : "number";
}
