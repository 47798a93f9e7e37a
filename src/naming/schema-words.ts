import { isObject, type JsonSchema } from "../base/json.ts";

/** Deeper parts of a schema say little about the tool. */
const DEEPEST = 4;

export function propertiesOf(schema: JsonSchema | undefined): Readonly<Record<string, unknown>> {
  const properties = schema?.["properties"];
  return isObject(properties) ? properties : {};
}

export function propertyNames(schema: JsonSchema | undefined): string[] {
  return collect(schema, (each) => Object.keys(propertiesOf(each)));
}

/** Values of closed lists. */
export function enumValues(schema: JsonSchema | undefined): string[] {
  return collect(schema, ({ enum: values }) =>
    Array.isArray(values) ? values.filter((each) => typeof each === "string") : [],
  );
}

function collect(schema: unknown, read: (schema: JsonSchema) => readonly string[], depth = 0): string[] {
  if (!isObject(schema) || depth > DEEPEST) return [];
  const inner = [schema["items"], ...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])];
  return [
    ...read(schema),
    ...[...inner, ...Object.values(propertiesOf(schema))].flatMap((each) => collect(each, read, depth + 1)),
  ];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
