import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../base/json.ts";
import { storableText } from "../base/storable.ts";

/** The part of JSON Schema that can be learned from examples. */
export type InferredSchema = {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, InferredSchema>>;
  readonly required?: readonly string[];
  readonly items?: InferredSchema;
};

/** Objects with more keys, in one value or over many, are maps rather than records. */
const MAX_PROPERTIES = 100;
const MAX_DEPTH = 8;
const MAX_SAMPLED_ITEMS = 20;

/** Infers the schema of a value, with keys as the database can store them: results may have any. */
export function inferSchema(value: JsonValue, depth = 0): InferredSchema {
  if (value === null) return { type: "null" };
  if (typeof value !== "object") return { type: typeof value === "number" ? numberType(value) : typeof value };
  if (depth >= MAX_DEPTH) return { type: Array.isArray(value) ? "array" : "object" };
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_SAMPLED_ITEMS).map((item: JsonValue) => inferSchema(item, depth + 1));
    const [first, ...others] = items;
    return first === undefined ? { type: "array" } : { type: "array", items: others.reduce(mergeSchemas, first) };
  }
  const entries = Object.entries(value as Record<string, JsonValue>);
  if (entries.length > MAX_PROPERTIES) return { type: "object" };
  const properties = Object.fromEntries(
    entries.map(([key, item]) => [storableText(key), inferSchema(item, depth + 1)]),
  );
  return { type: "object", properties, required: Object.keys(properties).toSorted() };
}

/** Widens to a schema that accepts both; a property stays required only if both require it. Idempotent. */
export function mergeSchemas(a: InferredSchema, b: InferredSchema): InferredSchema {
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

function mergeProperties(a: InferredSchema, b: InferredSchema): Record<string, InferredSchema> | undefined {
  const isMap = (schema: InferredSchema): boolean =>
    typesOf(schema).includes("object") && schema.properties === undefined;
  if (isMap(a) || isMap(b)) return undefined;
  const names = new Set([...Object.keys(a.properties ?? {}), ...Object.keys(b.properties ?? {})]);
  if (names.size > MAX_PROPERTIES || (a.properties ?? b.properties) === undefined) return undefined;
  return Object.fromEntries(
    [...names].map((name) => [name, mergeOptional(a.properties?.[name], b.properties?.[name]) ?? {}]),
  );
}

/** If only one side is an object, its required properties stay. */
function requiredInBoth(a: InferredSchema, b: InferredSchema): string[] {
  const own = (schema: InferredSchema): ReadonlySet<string> | undefined =>
    schema.properties === undefined ? undefined : new Set(schema.required);
  const [ofA, ofB] = [own(a), own(b)];
  if (ofA === undefined || ofB === undefined) return [...(ofA ?? ofB ?? [])];
  return [...ofA].filter((name) => ofB.has(name));
}

function mergeOptional(a: InferredSchema | undefined, b: InferredSchema | undefined): InferredSchema | undefined {
  return a === undefined || b === undefined ? (a ?? b) : mergeSchemas(a, b);
}

function typesOf({ type }: InferredSchema): readonly string[] {
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
