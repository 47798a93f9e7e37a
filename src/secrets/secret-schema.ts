import { isObject, type JsonSchema } from "../base/json.ts";

const DEEPEST_SCHEMA = 8;

/** True if a schema says that its values are secret. */
export function isSecretSchema(schema: JsonSchema): boolean {
  return schema["format"] === "password" || schema["writeOnly"] === true || schema["x-secret"] === true;
}

const secretSchemas = new WeakMap<JsonSchema, boolean>();

/** Most schemas have no secret part; then no arguments are walked. */
export function hasSecretPart(schema: JsonSchema, depth = 0): boolean {
  const known = secretSchemas.get(schema);
  if (known !== undefined || depth > DEEPEST_SCHEMA) return known ?? false;
  const { properties, items } = schema;
  const parts = [...combinedSchemas(schema), ...(isObject(properties) ? Object.values(properties) : []), items];
  const found = isSecretSchema(schema) || parts.some((part) => isObject(part) && hasSecretPart(part, depth + 1));
  secretSchemas.set(schema, found);
  return found;
}

/** A schema and all that are combined in it, those without a secret part left out. */
export function expandSchema(schema: JsonSchema): JsonSchema[] {
  return hasSecretPart(schema) ? [schema, ...combinedSchemas(schema).flatMap(expandSchema)] : [];
}

export function combinedSchemas({ anyOf, oneOf, allOf }: JsonSchema): JsonSchema[] {
  return [anyOf, oneOf, allOf].flatMap((parts) => (Array.isArray(parts) ? parts.filter(isObject) : []));
}
