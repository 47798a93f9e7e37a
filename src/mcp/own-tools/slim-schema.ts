import type { JsonObject, JsonValue } from "../../base/json.ts";

/**
 * Says the same in fewer words: every agent reads these schemas with each of its requests, and what a
 * generator adds for completeness is checked here anyway.
 */
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
    // a limit that nobody means to reach
    case "maximum":
      return Number(value) < HUGE;
    // nobody counts below nothing
    case "minimum":
    case "exclusiveMinimum":
      return value !== 0;
    // what is not known is refused, with the names that are; that nothing is empty goes without saying
    case "additionalProperties":
    case "minLength":
    case "minItems":
      return false;
    case "pattern":
      return format === undefined;
    // nothing by default is what leaving it out means
    case "default":
      return !isNothing(value);
    default:
      return true;
  }
}

function isNothing(value: JsonValue): boolean {
  return typeof value === "object" || value === false || value === 0;
}
