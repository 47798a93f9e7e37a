import { PmlError } from "../base/errors.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../base/json.ts";

/** Adds the schema's defaults for missing arguments. */
export function mergeDefaults(args: JsonObject, schema: JsonSchema): JsonObject {
  const properties = (schema["properties"] ?? {}) as Record<string, { default?: JsonValue } | boolean>;
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    typeof property === "object" && property.default !== undefined && !Object.hasOwn(args, name)
      ? [[name, property.default] as const]
      : [],
  );
  return defaults.length === 0 ? args : { ...args, ...Object.fromEntries(defaults) };
}

/** Refuses arguments that a program could not pass on either; they are stored with the run and shown to people. */
export function refuseLargeArguments(args: JsonObject, most: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(args));
  if (bytes <= most) return;
  throw new PmlError(
    "limit_exceeded",
    `The arguments have ${bytes} bytes, more than ${most} (sandbox.maxArgumentBytes)`,
    {
      hint: "Pass a path or an id instead of the content; a person can raise sandbox.maxArgumentBytes.",
    },
  );
}

/** Describes a missing or mistyped argument; undefined if there is none. */
export function findArgumentProblem(args: JsonObject, schema: JsonSchema): string | undefined {
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  const required = (schema["required"] ?? []) as readonly string[];
  for (const name of required) {
    if (!Object.hasOwn(args, name)) return `args.${name} is missing${describeExpected(properties[name])}`;
  }
  for (const [name, value] of Object.entries(args)) {
    const expected = typesOf(properties[name]);
    if (expected.length > 0 && !expected.some((type) => isOfType(value, type)))
      return `args.${name} is ${describeValue(value)}, expected ${expected.join(" or ")}`;
  }
  return undefined;
}

function typesOf(schema: JsonSchema | undefined): readonly string[] {
  const type = schema?.["type"];
  return typeof type === "string" ? [type] : Array.isArray(type) ? (type as string[]) : [];
}

function isOfType(value: JsonValue, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function describeExpected(schema: JsonSchema | undefined): string {
  const types = typesOf(schema);
  return types.length === 0 ? "" : ` (${types.join(" or ")})`;
}

function describeValue(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
