import { findClosest } from "../base/closest.ts";
import { PmlError } from "../base/errors.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../base/json.ts";
import { dagParameters } from "./dag-executor.ts";
import type { Runnable } from "./programs.ts";

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

/** Fills in defaults; throws if an argument is unknown, missing or of the wrong type. */
export function checkArguments(runnable: Runnable, given: JsonObject): JsonObject {
  const accepted = acceptedBy(runnable);
  const unknown = findUnknown(given, accepted);
  const { displayName } = runnable.capability;
  const refusals = unknown.length === 0 ? [] : [`${displayName} has ${describeUnknown(unknown, accepted)}`];
  return completeArguments(runnable, given, refusals);
}

/** Fills in defaults for a program that is sent with its arguments: it may come with more than it uses. */
export function checkOwnArguments(
  runnable: Runnable,
  given: JsonObject,
): { readonly args: JsonObject; readonly notices: readonly string[] } {
  const accepted = acceptedBy(runnable);
  const unknown = findUnknown(given, accepted);
  const notices =
    unknown.length === 0
      ? []
      : [`The program uses ${describeUnknown(unknown, accepted)}. ${describeAccepted(accepted)}.`];
  return { args: completeArguments(runnable, given), notices };
}

function completeArguments(runnable: Runnable, given: JsonObject, refusals: readonly string[] = []): JsonObject {
  const accepted = acceptedBy(runnable);
  const args = mergeDefaults(given, accepted.schema);
  const missing = findMissing(args, accepted);
  const problems = [...refusals, ...missing, ...findMistyped(args, accepted)];
  if (problems.length === 0) return args;
  const isIncomplete = refusals.length + missing.length > 0;
  const sentences = isIncomplete ? [...problems, describeAccepted(accepted)] : problems;
  throw new PmlError("arguments_invalid", sentences.join(". "), {
    hint: "Pass the program's parameters in args; on the command line with --arg name=value or --args-json.",
  });
}

/** Versions stored before arguments were strict do not say so in their schema; their text decides. */
function acceptedBy({ parameters, body }: Runnable): Accepted {
  if (body.kind === "tool") return { schema: parameters, closed: isClosed(parameters) };
  const inferred = body.kind === "code" ? body.program.parameters : dagParameters(body.dag);
  return { schema: parameters, inferred, closed: isClosed(inferred) };
}

function isClosed(schema: JsonSchema): boolean {
  return schema["additionalProperties"] === false;
}

/** The arguments a capability takes. */
interface Accepted {
  readonly schema: JsonSchema;
  /** A newer inference from the same text; it may know that an older one refused too much. */
  readonly inferred?: JsonSchema | undefined;
  /** False if any argument may be passed. */
  readonly closed: boolean;
}

/** Adds the schema's defaults for missing arguments. */
function mergeDefaults(args: JsonObject, schema: JsonSchema): JsonObject {
  const properties = (schema["properties"] ?? {}) as Record<string, { default?: JsonValue } | boolean>;
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    typeof property === "object" && property.default !== undefined && !Object.hasOwn(args, name)
      ? [[name, property.default] as const]
      : [],
  );
  return defaults.length === 0 ? args : { ...args, ...Object.fromEntries(defaults) };
}

/** Lists the arguments that a capability does not have. */
function findUnknown(args: JsonObject, accepted: Accepted): string[] {
  const known = propertiesOf(accepted);
  return accepted.closed ? Object.keys(args).filter((name) => !Object.hasOwn(known, name)) : [];
}

function findMissing(args: JsonObject, { schema }: Accepted): string[] {
  return requiredOf(schema)
    .filter((name) => !Object.hasOwn(args, name))
    .map((name) => `args.${name} is missing${describeExpected(ownProperty(schema, name))}`);
}

function findMistyped(args: JsonObject, { schema, inferred }: Accepted): string[] {
  return Object.entries(args).flatMap(([name, value]) => {
    // null stands for a value that is not there
    if (value === null && !requiredOf(schema).includes(name)) return [];
    const expected = typesOf(ownProperty(schema, name));
    if (fits(value, expected)) return [];
    if (inferred !== undefined && fits(value, typesOf(ownProperty(inferred, name)))) return [];
    return [`args.${name} is ${describeValue(value)}, expected ${expected.join(" or ")}`];
  });
}

/** Says which of the known names an unknown one may have meant. */
function describeUnknown(names: readonly string[], accepted: Accepted): string {
  const known = Object.keys(propertiesOf(accepted));
  const each = names.slice(0, MOST_NAMED).map((name) => {
    const closest = findClosest(name, known);
    return closest === undefined ? quote(name) : `${quote(name)} (closest: ${quote(closest)})`;
  });
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return `no argument ${each.join(", ")}${more}`;
}

/** `It takes path (string, required), limit (number)`. */
function describeAccepted(accepted: Accepted): string {
  const required = requiredOf(accepted.schema);
  const all = Object.entries(propertiesOf(accepted)).map(([name, schema]) => {
    const facts = [typesOf(schema).join(" or ") || "any", ...(required.includes(name) ? ["required"] : [])];
    return `${name} (${facts.join(", ")})`;
  });
  if (all.length === 0) return accepted.closed ? "It takes no arguments" : "It takes any arguments";
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : "";
  return `It takes ${all.slice(0, MOST_NAMED).join(", ")}${more}${accepted.closed ? "" : ", and any other"}`;
}

const MOST_NAMED = 20;
const LONGEST_NAME = 60;

function quote(name: string): string {
  return JSON.stringify(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);
}

function propertiesOf({ schema, inferred }: Accepted): Record<string, JsonSchema> {
  return { ...(inferred?.["properties"] as object | undefined), ...(schema["properties"] as object | undefined) };
}

function requiredOf(schema: JsonSchema): readonly string[] {
  return (schema["required"] ?? []) as readonly string[];
}

function ownProperty(schema: JsonSchema, name: string): JsonSchema | undefined {
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function fits(value: JsonValue, types: readonly string[]): boolean {
  return types.length === 0 || types.some((type) => isOfType(value, type));
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
