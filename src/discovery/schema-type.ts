import type { JsonSchema } from "../json.ts";

const MOST_ALTERNATIVES = 12;
const DEEPEST = 6;
const PLAIN: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

/** A JSON Schema as a TypeScript type, as short as one can be written. */
export function toTypeText(schema: unknown, depth = 0): string {
  if (typeof schema !== "object" || schema === null || depth > DEEPEST) return "unknown";
  const known = schema as JsonSchema;
  return alternatives(known, depth) ?? single(known, depth);
}

function alternatives(schema: JsonSchema, depth: number): string | undefined {
  const { type, enum: values, const: only, anyOf, oneOf } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return union(values.map((value) => JSON.stringify(value)));
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(choices)) return union(choices.map((each) => toTypeText(each, depth + 1)));
  if (Array.isArray(type)) return union(type.map((each) => toTypeText({ ...schema, type: each }, depth)));
  return undefined;
}

function single(schema: JsonSchema, depth: number): string {
  const { type, items, properties } = schema;
  if (type === "array") return arrayOf(toTypeText(items, depth + 1));
  if (type === "object" || properties !== undefined) return objectType(schema, depth);
  return PLAIN[String(type)] ?? "unknown";
}

function objectType(schema: JsonSchema, depth: number): string {
  const properties = Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, unknown>>);
  const required = new Set((schema["required"] ?? []) as readonly string[]);
  if (properties.length === 0) return "Record<string, unknown>";
  const fields = properties.map(([name, each]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${key}${required.has(name) ? "" : "?"}: ${toTypeText(each, depth + 1)}`;
  });
  return `{ ${fields.join("; ")} }`;
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  const shown = distinct.slice(0, MOST_ALTERNATIVES);
  return [...shown, ...(distinct.length > shown.length ? ["unknown"] : [])].join(" | ");
}

function arrayOf(item: string): string {
  return item.includes(" ") && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
}
