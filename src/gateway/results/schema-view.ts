type Schema = Readonly<Record<string, unknown>>;

/** What a JSON Schema says of one place in a value, as far as it matters to whoever leaves things out. */
export interface SchemaView {
  /** Keys that must stay; of alternatives, those of each. */
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

/** The schema itself, what it refers to, and its alternatives, as one list. */
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
