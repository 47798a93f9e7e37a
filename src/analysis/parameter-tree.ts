import type { JsonSchema, JsonValue } from "../base/json.ts";

/** The facts about a parameter or a property of one. */
export interface Parameter {
  readonly properties: Map<string, Parameter>;
  /** Schema the program states. */
  stated?: JsonSchema;
  /** Schema of the tool parameters it is passed to. */
  taken?: JsonSchema;
  /** Types without which a use would fail. */
  readonly kinds: Set<string>;
  /** Types of the literals it is compared with. */
  readonly compared: Set<string>;
  default?: JsonValue;
  /** Used in a way that needs a value. */
  needed: boolean;
  /** Tested or marked as optional, so it can be missing. */
  optional: boolean;
  /** Required by a stated type. */
  demanded: boolean;
  /** Has a default value. */
  defaulted: boolean;
  /** Tested for being truthy. */
  tested: boolean;
  /** Used other than in a test or a comparison. */
  valued: boolean;
  /** Iterated, indexed or cut, which a string allows as well as an array. */
  sequence: boolean;
  /** The program looks at its type, so it handles several. */
  examined: boolean;
}

export function createParameter(): Parameter {
  return {
    properties: new Map(),
    kinds: new Set(),
    compared: new Set(),
    needed: false,
    optional: false,
    demanded: false,
    defaulted: false,
    tested: false,
    valued: false,
    sequence: false,
    examined: false,
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

function statedSchema({ stated, taken, properties, kinds, examined }: Parameter): JsonSchema | undefined {
  if (stated !== undefined && Object.keys(stated).length > 0 && properties.size === 0) return stated;
  if (examined) return {};
  const others = taken === undefined ? [] : [...kinds].filter((kind) => !admits(taken, kind));
  return taken === undefined || others.length === 0 ? taken : { anyOf: [taken, ...others.map((type) => ({ type }))] };
}

/** Combines the schemas of two tools that get the same parameter; they may be called in different branches. */
export function joinTaken(known: JsonSchema | undefined, schema: JsonSchema): JsonSchema {
  if (known === undefined) return schema;
  const choices = (known["anyOf"] ?? [known]) as readonly JsonSchema[];
  const isNew = choices.every((choice) => JSON.stringify(choice["type"]) !== JSON.stringify(schema["type"]));
  return isNew ? { anyOf: [...choices, schema] } : known;
}

function admits({ type }: JsonSchema, kind: string): boolean {
  if (type === undefined) return true;
  const types = Array.isArray(type) ? (type as readonly unknown[]) : [type];
  return types.includes(kind) || (kind === "number" && types.includes("integer"));
}

function guessedSchema(parameter: Parameter): JsonSchema {
  const { properties, kinds, compared } = parameter;
  const names = [...properties.keys()];
  if (names.length > 0 && names.every(isIndex)) return toSequenceSchema(parameter);
  if (names.length > 0) {
    const others = [...kinds].filter((kind) => kind !== "object");
    return others.length === 0 ? toObjectSchema(parameter) : ofTypes(["object", ...others]);
  }
  if (kinds.size > 0) return ofTypes([...kinds]);
  if (parameter.sequence) return ofTypes(SEQUENCES);
  if (parameter.default !== undefined) return typeOf(parameter.default);
  if (parameter.valued) return {};
  if (compared.size > 0) return ofTypes([...compared]);
  return parameter.tested ? { type: "boolean" } : {};
}

const SEQUENCES = ["array", "string"];

function ofTypes(types: readonly string[]): JsonSchema {
  return { type: types.length === 1 ? types[0] : types };
}

function isIndex(name: string): boolean {
  return /^\d+$/.test(name);
}

/** `args.status[0]` is an element of a list or a character of a text, unless other uses decide. */
function toSequenceSchema({ properties, kinds }: Parameter): JsonSchema {
  const [element = createParameter()] = properties.values();
  if (kinds.size > 0 && !kinds.has("array")) return ofTypes([...kinds]);
  const isList = kinds.has("array") || !mayBeCharacter(element);
  return isList ? { type: "array", items: toParameterSchema(element) } : ofTypes(SEQUENCES);
}

function mayBeCharacter({ properties, kinds, taken, stated }: Parameter): boolean {
  return properties.size === 0 && (taken ?? stated) === undefined && [...kinds].every((kind) => kind === "string");
}

function typeOf(value: JsonValue): JsonSchema {
  if (value === null) return {};
  return { type: Array.isArray(value) ? "array" : typeof value };
}
