import type { JsonObject, JsonValue } from "../../base/json.ts";

/** Shortens a schema: every agent reads it with each request, and calls are checked against the full schema anyway. */
export function slimSchema({ $defs: _recursive, $schema: _dialect, ...schema }: JsonObject): JsonObject {
  return { ...slim(schema), additionalProperties: false };
}

function slim(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter((entry) => saysSomething(entry, schema));
  return Object.fromEntries(kept.map(([key, value]) => [key, slimPart(key, value)]));
}

function slimPart(key: string, value: JsonValue): JsonValue {
  if (key === "items") return slim(value as JsonObject);
  if (key !== "properties") return value;
  const properties = Object.entries(value as Readonly<Record<string, JsonObject>>);
  return Object.fromEntries(properties.map(([name, each]) => [name, slim(each)]));
}

const HUGE = 2 ** 30;

function saysSomething([key, value]: [string, JsonValue], { format }: JsonObject): boolean {
  switch (key) {
    case "propertyNames":
      return false;
    // a limit that no agent reaches
    case "maximum":
      return Number(value) < HUGE;
    // counts are not negative anyway
    case "minimum":
    case "exclusiveMinimum":
      return value !== 0;
    // refusals name the known fields and the limits, and empty values are not worth a word
    case "additionalProperties":
    case "minLength":
    case "minItems":
    case "maxLength":
    case "maxItems":
      return false;
    case "pattern":
      return format === undefined;
    // an empty default means the same as none
    case "default":
      return !isNothing(value);
    default:
      return true;
  }
}

function isNothing(value: JsonValue): boolean {
  return typeof value === "object" || value === false || value === 0;
}
