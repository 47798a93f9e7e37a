import type { JsonSchema } from "../base/json.ts";

/** Limits of a readable declaration; anything beyond becomes `unknown`. */
const MAX_DEPTH = 5;
const MAX_MEMBERS = 40;
const MAX_CHOICES = 12;

/** TypeScript type of the values that a JSON Schema describes. */
export function toTypeText(schema: unknown, depth = 0): string {
  if (!isSchema(schema) || depth > MAX_DEPTH) return "unknown";
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  const choices = schema["enum"];
  if (Array.isArray(choices)) return toChoices(choices);
  const either = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(either)) return union(either.map((each) => toTypeText(each, depth + 1)));
  const type = schema["type"];
  if (Array.isArray(type)) return union([...new Set(type)].map((each) => toTypeText({ ...schema, type: each }, depth)));
  if (type === undefined && schema["properties"] === undefined) return "unknown";
  return toSingleType(typeof type === "string" ? type : "object", schema, depth);
}

function toSingleType(type: string, schema: JsonSchema, depth: number): string {
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "array": {
      const items = toTypeText(schema["items"], depth + 1);
      return items.includes(" | ") && !items.startsWith("{") ? `(${items})[]` : `${items}[]`;
    }
    case "object":
      return toObject(schema, depth);
    default:
      return "unknown";
  }
}

function toObject(schema: JsonSchema, depth: number): string {
  const { properties, required } = objectParts(schema);
  const all = Object.keys(properties);
  const names = [...all.filter((name) => required.has(name)), ...all.filter((name) => !required.has(name))];
  if (names.length === 0 || depth === MAX_DEPTH) return "Record<string, unknown>";
  const members = names.slice(0, MAX_MEMBERS).map((name) => {
    const optional = required.has(name) ? "" : "?";
    return `${propertyName(name)}${optional}: ${toTypeText(properties[name], depth + 1)}`;
  });
  return `{ ${[...members, ...(names.length > MAX_MEMBERS ? ["[more: string]: unknown"] : [])].join("; ")} }`;
}

function toChoices(values: readonly unknown[]): string {
  if (values.length <= MAX_CHOICES) return union(values.map((value) => JSON.stringify(value)));
  return union(values.map((value) => (value === null ? "null" : typeof value)));
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  return distinct.length === 0 || distinct.includes("unknown") ? "unknown" : distinct.join(" | ");
}

export function objectParts(schema: JsonSchema): {
  properties: Readonly<Record<string, unknown>>;
  required: Set<unknown>;
} {
  const { properties, required } = schema as { properties?: unknown; required?: unknown };
  return {
    properties: isSchema(properties) ? properties : {},
    required: new Set(Array.isArray(required) ? required : []),
  };
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function propertyName(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}
