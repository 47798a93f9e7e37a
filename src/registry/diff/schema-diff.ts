import { isDeepStrictEqual } from "node:util";
import { canonical } from "../../base/canonical.ts";
import type { JsonSchema } from "../../base/json.ts";
import { diffLimits } from "./schema-limits.ts";

/** One difference between two parameter schemas and its effect on callers. */
export interface SchemaChange {
  /** `options.depth`, `files[]`; empty for the arguments as a whole. */
  readonly path: string;
  readonly kind: "added" | "removed" | "required" | "optional" | "type" | "values" | "limit" | "default" | "closed";
  /** True if a call that was valid before may fail or change its meaning. */
  readonly breaking: boolean;
  readonly explanation: string;
}

/** Compares two parameter schemas; breaking changes come first. */
export function diffSchemas(before: JsonSchema, after: JsonSchema): SchemaChange[] {
  const changes = diffAt("", before, after);
  return [...changes.filter(({ breaking }) => breaking), ...changes.filter(({ breaking }) => !breaking)];
}

function diffAt(path: string, before: JsonSchema, after: JsonSchema): SchemaChange[] {
  return [
    ...diffTypes(path, before, after),
    ...diffValues(path, before, after),
    ...diffLimits(path, before, after),
    ...diffDefault(path, before, after),
    ...diffOpenness(path, before, after),
    ...diffProperties(path, before, after),
    ...diffItems(path, before, after),
  ];
}

function diffProperties(path: string, before: JsonSchema, after: JsonSchema): SchemaChange[] {
  const [old, current] = [propertiesOf(before), propertiesOf(after)];
  const [needed, needs] = [requiredOf(before), requiredOf(after)];
  return [...new Set([...Object.keys(old), ...Object.keys(current)])].toSorted().flatMap((name) => {
    const [was, is] = [old[name], current[name]];
    const at = path === "" ? name : `${path}.${name}`;
    if (was === undefined) return [addedProperty(at, needs.has(name))];
    if (is === undefined) return [removedProperty(at, after)];
    return [...diffNeed(at, needed.has(name), needs.has(name)), ...diffAt(at, was, is)];
  });
}

function addedProperty(path: string, required: boolean): SchemaChange {
  const explanation = required
    ? `"${path}" is new and required: calls without it are refused`
    : `"${path}" is new and can be left out`;
  return { path, kind: "added", breaking: required, explanation };
}

function removedProperty(path: string, after: JsonSchema): SchemaChange {
  const then = after["additionalProperties"] === false ? "are refused" : "have no effect with it any more";
  return {
    path,
    kind: "removed",
    breaking: true,
    explanation: `"${path}" is gone: calls that pass it ${then}`,
  };
}

function diffNeed(path: string, before: boolean, after: boolean): SchemaChange[] {
  if (before === after) return [];
  return after
    ? [
        {
          path,
          kind: "required",
          breaking: true,
          explanation: `"${path}" is required now: calls without it are refused`,
        },
      ]
    : [{ path, kind: "optional", breaking: false, explanation: `"${path}" can be left out now` }];
}

function diffTypes(path: string, before: JsonSchema, after: JsonSchema): SchemaChange[] {
  const [old, current] = [typesOf(before), typesOf(after)];
  if (isDeepStrictEqual(old, current)) return [];
  const lost = old === undefined ? ["any other type"] : old.filter((type) => !accepts(current, type));
  const words = `${describe(path)} was ${joinTypes(old)} and is ${joinTypes(current)}`;
  return lost.length > 0 && current !== undefined
    ? [{ path, kind: "type", breaking: true, explanation: `${words}: calls with ${lost.join(" or ")} are refused` }]
    : [{ path, kind: "type", breaking: false, explanation: `${words}: it takes more than before` }];
}

/** Undefined if every type is accepted. */
function typesOf({ type }: JsonSchema): string[] | undefined {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.filter((each) => typeof each === "string").toSorted() : undefined;
}

function accepts(types: readonly string[] | undefined, type: string): boolean {
  return types === undefined || types.includes(type) || (type === "integer" && types.includes("number"));
}

function joinTypes(types: readonly string[] | undefined): string {
  return types?.join(" or ") ?? "of any type";
}

function diffValues(path: string, before: JsonSchema, after: JsonSchema): SchemaChange[] {
  const [old, current] = [valuesOf(before), valuesOf(after)];
  if (isDeepStrictEqual(old, current)) return [];
  const change = (breaking: boolean, words: string): SchemaChange[] => [
    { path, kind: "values", breaking, explanation: `${describe(path)} ${words}` },
  ];
  if (current === undefined) return change(false, "takes any value now");
  if (old === undefined) return change(true, `takes only ${list(current)} now: calls with anything else are refused`);
  const lost = without(old, current);
  if (lost.length > 0) return change(true, `does not take ${list(lost)} any more`);
  const gained = without(current, old);
  return gained.length > 0 ? change(false, `takes ${list(gained)} as well`) : [];
}

function list(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(", ");
}

function without(values: readonly unknown[], others: readonly unknown[]): unknown[] {
  const known = new Set(others.map(canonical));
  return values.filter((value) => !known.has(canonical(value)));
}

/** Undefined if every value is accepted. */
function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if ("const" in schema) return [schema["const"]];
  const values = schema["enum"];
  return Array.isArray(values) ? (values as readonly unknown[]) : undefined;
}

function say(value: unknown): string {
  return value === undefined ? "none" : JSON.stringify(value);
}

function diffDefault(path: string, before: JsonSchema, after: JsonSchema): SchemaChange[] {
  const [old, current] = [before["default"], after["default"]];
  if (isDeepStrictEqual(old, current)) return [];
  const explanation = `the default of ${describe(path)} was ${say(old)} and is ${say(current)}: calls that leave it out get the new one`;
  return [{ path, kind: "default", breaking: false, explanation }];
}

function isClosed({ additionalProperties }: JsonSchema): boolean {
  return additionalProperties === false;
}

function diffOpenness(path: string, before: JsonSchema, after: JsonSchema): SchemaChange[] {
  if (isClosed(before) === isClosed(after)) return [];
  return isClosed(after)
    ? [{ path, kind: "closed", breaking: true, explanation: `${describe(path)} takes no further properties any more` }]
    : [{ path, kind: "closed", breaking: false, explanation: `${describe(path)} takes further properties now` }];
}

function diffItems(path: string, before: JsonSchema, after: JsonSchema): SchemaChange[] {
  const [old, current] = [before["items"], after["items"]];
  return isSchema(old) || isSchema(current)
    ? diffAt(`${path}[]`, isSchema(old) ? old : {}, isSchema(current) ? current : {})
    : [];
}

function propertiesOf({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  if (!isSchema(properties)) return {};
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, isSchema(value) ? value : {}]));
}

function requiredOf({ required }: JsonSchema): ReadonlySet<unknown> {
  return new Set(Array.isArray(required) ? (required as unknown[]) : []);
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(path: string): string {
  return path === "" ? "the whole" : `"${path}"`;
}
