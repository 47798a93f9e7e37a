import type { JsonSchema } from "../base/json.ts";
import type { Coverage, FieldMapping } from "./structure.ts";

export interface ConsumerInputs {
  readonly required: ReadonlySet<string>;
  readonly optional: ReadonlySet<string>;
}

/** Rates how many of the consumer's inputs the provider covers; null for none. */
export function computeCoverage(providerOutputs: ReadonlySet<string>, consumer: ConsumerInputs): Coverage | null {
  const isProvided = (field: string): boolean => providerOutputs.has(field);
  const required = [...consumer.required];
  if (required.length > 0 && required.every(isProvided)) return "strict";
  if (required.some(isProvided)) return "partial";
  return [...consumer.optional].some(isProvided) ? "optional" : null;
}

export function inputsOf(schema: JsonSchema): ConsumerInputs {
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"].map(String) : []);
  return { required, optional: new Set([...fieldsOf(schema)].filter((field) => !required.has(field))) };
}

export function fieldsOf(schema: JsonSchema): Set<string> {
  return new Set(Object.keys(asSchema(schema["properties"]) ?? {}));
}

/** A field passed between two calls: its path in the result (`$` for all of it) and the name of the argument. */
export interface FieldFlow {
  readonly fromPath: string;
  readonly toField: string;
}

export function mapFields(flows: readonly FieldFlow[], output: JsonSchema, input: JsonSchema): FieldMapping[] {
  return flows.map(({ fromPath, toField }) => ({
    fromField: fromPath,
    toField,
    typeCompatible: areCompatible(schemaAt(output, fromPath), schemaAt(input, toField)),
  }));
}

function schemaAt(schema: JsonSchema, path: string): JsonSchema | undefined {
  let found: JsonSchema | undefined = schema;
  if (path === "$") return found;
  for (const key of path.split(/[.[\]]+/).filter((part) => part !== "")) {
    const isIndex: boolean = /^\d+$/.test(key);
    found = isIndex ? asSchema(found?.["items"]) : asSchema(asSchema(found?.["properties"])?.[key]);
  }
  return found;
}

/** Treats unknown types as compatible. */
function areCompatible(from: JsonSchema | undefined, to: JsonSchema | undefined): boolean {
  const given = typesOf(from);
  const wanted = typesOf(to);
  if (given.length === 0 || wanted.length === 0) return true;
  return given.some((type) => wanted.includes(type) || (type === "integer" && wanted.includes("number")));
}

function typesOf(schema: JsonSchema | undefined): string[] {
  const type = schema?.["type"];
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.map(String) : [];
}

function asSchema(value: unknown): JsonSchema | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonSchema) : undefined;
}
