import type { JsonSchema, JsonValue } from "../base/json.ts";

/** The facts about a parameter or a property of one. */
export interface Parameter {
  readonly properties: Map<string, Parameter>;
  /** Schema the program states. */
  stated?: JsonSchema;
  /** Schema of the tool parameters it is passed to. */
  taken?: JsonSchema;
  /** Types that its uses imply. */
  readonly kinds: Set<string>;
  default?: JsonValue;
  /** Used in a way that needs a value. */
  needed: boolean;
  /** Tested or marked as optional, so it can be missing. */
  optional: boolean;
  /** Required by a stated type. */
  demanded: boolean;
  /** Has a default value. */
  defaulted: boolean;
  /** Only ever tested for being truthy. */
  tested: boolean;
}

export function createParameter(): Parameter {
  return {
    properties: new Map(),
    kinds: new Set(),
    needed: false,
    optional: false,
    demanded: false,
    defaulted: false,
    tested: false,
  };
}

export function findOrCreate(root: Parameter, path: readonly string[]): Parameter {
  let parameter = root;
  for (const name of path) {
    let next = parameter.properties.get(name);
    if (next === undefined) {
      next = createParameter();
      parameter.properties.set(name, next);
    }
    parameter = next;
  }
  return parameter;
}

export function toObjectSchema({ properties }: Parameter): JsonSchema {
  const required = [...properties].filter(([, property]) => isRequired(property)).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries([...properties].map(([name, property]) => [name, toParameterSchema(property)])),
    ...(required.length > 0 && { required }),
  };
}

function isRequired({ needed, optional, demanded, defaulted }: Parameter): boolean {
  return !defaulted && (demanded || (needed && !optional));
}

function toParameterSchema(parameter: Parameter): JsonSchema {
  const schema = statedSchema(parameter) ?? guessedSchema(parameter);
  const allowed = schema["enum"];
  const fits = parameter.default !== undefined && (!Array.isArray(allowed) || allowed.includes(parameter.default));
  return fits ? { ...schema, default: parameter.default } : schema;
}

function statedSchema({ stated, taken, properties }: Parameter): JsonSchema | undefined {
  if (stated !== undefined && Object.keys(stated).length > 0 && properties.size === 0) return stated;
  return taken;
}

function guessedSchema(parameter: Parameter): JsonSchema {
  const names = [...parameter.properties.keys()];
  if (names.length > 0) return names.every(isIndex) ? toArraySchema(parameter) : toObjectSchema(parameter);
  const [kind, ...others] = parameter.kinds;
  if (kind !== undefined) return { type: others.length === 0 ? kind : [kind, ...others] };
  if (parameter.default !== undefined) return typeOf(parameter.default);
  return parameter.tested && !parameter.needed ? { type: "boolean" } : {};
}

function isIndex(name: string): boolean {
  return /^\d+$/.test(name);
}

function toArraySchema({ properties }: Parameter): JsonSchema {
  const [items = {}] = [...properties.values()].map(toParameterSchema);
  return { type: "array", items };
}

function typeOf(value: JsonValue): JsonSchema {
  if (value === null) return {};
  return { type: Array.isArray(value) ? "array" : typeof value };
}
