type Schema = Readonly<Record<string, unknown>>;

/** Reads the constraints of a JSON Schema that limit which parts of a value can be left out. */
export interface SchemaView {
  /** Required keys, of every alternative. */
  readonly required: ReadonlySet<string>;
  property(key: string): SchemaView;
  readonly items: SchemaView;
}

const COMBINATIONS = ["allOf", "anyOf", "oneOf"] as const;
const DEEPEST_REFERENCE = 16;

export function viewSchema(root: unknown): SchemaView {
  return createView(root, [root]);
}

function createView(root: unknown, nodes: readonly unknown[]): SchemaView {
  const schemas = nodes.flatMap((node) => expand(root, node, 0));
  return {
    required: new Set(schemas.flatMap(({ required }) => (Array.isArray(required) ? required.map(String) : []))),
    property: (key) =>
      createView(
        root,
        schemas.map(({ properties, additionalProperties }) => asSchema(properties)?.[key] ?? additionalProperties),
      ),
    get items() {
      return createView(
        root,
        schemas.map(({ items }) => items),
      );
    },
  };
}

/** Lists the schema itself, its references and its alternatives. */
function expand(root: unknown, node: unknown, depth: number): Schema[] {
  const schema = asSchema(node);
  if (schema === undefined || depth > DEEPEST_REFERENCE) return [];
  const { $ref } = schema;
  const referred = typeof $ref === "string" ? [findReference(root, $ref)] : [];
  const combined = COMBINATIONS.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : []));
  return [schema, ...[...referred, ...combined].flatMap((each) => expand(root, each, depth + 1))];
}

function findReference(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  const keys = reference
    .slice(1)
    .split("/")
    .filter((key) => key !== "");
  return keys.reduce<unknown>(
    (node, key) => asSchema(node)?.[decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")],
    root,
  );
}

function asSchema(node: unknown): Schema | undefined {
  return typeof node === "object" && node !== null ? (node as Schema) : undefined;
}
