import type { JsonSchema } from "../json.ts";

export interface Declared {
  readonly inputSchema?: JsonSchema | undefined;
  readonly outputSchema?: JsonSchema | undefined;
}

/** A tool as programs call it: `mcp.fs.read(args: { path: string }): Promise<{ content: string }>`. */
export function declareTool(id: string, schemas: Declared): string {
  const [server = "", tool = ""] = id.split(/:(.*)/s);
  return `mcp${access(server)}${access(tool)}${signature(schemas)}`;
}

/** A capability as programs call it: `capabilities.fs.read_json(args?: { path?: string }): Promise<unknown>`. */
export function declareCapability(name: string, schemas: Declared): string {
  const parts = name.split(":").map(access).join("");
  return `capabilities${parts}${signature(schemas)}`;
}

/** Far more than anybody reads; what is deeper or longer is `unknown`. */
const DEEPEST = 5;
const MOST_MEMBERS = 40;
const MOST_CHOICES = 12;

function signature({ inputSchema = {}, outputSchema }: Declared): string {
  const { properties, required } = objectParts(inputSchema);
  const optional = required.size === 0 ? "?" : "";
  const given = Object.keys(properties).length === 0 && isClosed(inputSchema) ? "" : `args${optional}: `;
  const args = given === "" ? "" : `${given}${toType(inputSchema, 0)}`;
  return `(${args}): Promise<${outputSchema === undefined ? "unknown" : toType(outputSchema, 0)}>`;
}

/** The type of the values that a JSON Schema describes, as far as TypeScript has one. */
function toType(schema: unknown, depth: number): string {
  if (!isSchema(schema) || depth > DEEPEST) return "unknown";
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  const choices = schema["enum"];
  if (Array.isArray(choices)) return toChoices(choices);
  const either = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(either)) return union(either.map((each) => toType(each, depth + 1)));
  const type = schema["type"];
  if (Array.isArray(type)) return union(type.map((each) => toType({ ...schema, type: each }, depth)));
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
      const items = toType(schema["items"], depth + 1);
      return /^[\w.]+$/.test(items) ? `${items}[]` : `Array<${items}>`;
    }
    case "object":
      return toObject(schema, depth);
    default:
      return "unknown";
  }
}

function toObject(schema: JsonSchema, depth: number): string {
  const { properties, required } = objectParts(schema);
  const names = Object.keys(properties);
  if (names.length === 0 || depth === DEEPEST) return "Record<string, unknown>";
  const members = names.slice(0, MOST_MEMBERS).map((name) => {
    const optional = required.has(name) ? "" : "?";
    return `${propertyName(name)}${optional}: ${toType(properties[name], depth + 1)}`;
  });
  return `{ ${[...members, ...(names.length > MOST_MEMBERS ? ["[more: string]: unknown"] : [])].join("; ")} }`;
}

function toChoices(values: readonly unknown[]): string {
  if (values.length <= MOST_CHOICES) return union(values.map((value) => JSON.stringify(value)));
  return union(values.map((value) => (value === null ? "null" : typeof value)));
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  return distinct.length === 0 || distinct.includes("unknown") ? "unknown" : distinct.join(" | ");
}

function objectParts(schema: JsonSchema): { properties: Readonly<Record<string, unknown>>; required: Set<unknown> } {
  const { properties, required } = schema as { properties?: unknown; required?: unknown };
  return {
    properties: isSchema(properties) ? properties : {},
    required: new Set(Array.isArray(required) ? required : []),
  };
}

function isClosed(schema: JsonSchema): boolean {
  return schema["additionalProperties"] !== true && !isSchema(schema["additionalProperties"]);
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** In code names of tools may be written with underscores for whatever an identifier cannot have. */
function access(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function propertyName(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}
