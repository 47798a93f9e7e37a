type Schema = Readonly<Record<string, unknown>>;

/** Reads the constraints of a JSON Schema that limit which parts of a value can be left out. */
export interface SchemaView {
  /** Required keys, of every alternative. */
  readonly required: ReadonlySet<string>;
  property(key: string): SchemaView;
  readonly items: SchemaView;
}

const COMBINATIONS = ["allOf", "anyOf", "oneOf"] as const;
/** Alternatives of one place that are read; a schema may refer to itself without end. */
const MOST_ALTERNATIVES = 64;

export function viewSchema(root: unknown): SchemaView {
  return createView(root, [root]);
}

function createView(root: unknown, nodes: readonly unknown[]): SchemaView {
  const schemas = expand(root, nodes);
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

/** Lists the schemas themselves, their references and their alternatives, each once. */
function expand(root: unknown, nodes: readonly unknown[]): Schema[] {
  const found = new Set<Schema>();
  const left = nodes.toReversed();
  while (left.length > 0 && found.size < MOST_ALTERNATIVES) {
    const schema = asSchema(left.pop());
    if (schema === undefined || found.has(schema)) continue;
    found.add(schema);
    const { $ref } = schema;
    const combined = COMBINATIONS.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : []));
    left.push(...combined.slice(0, MOST_ALTERNATIVES).toReversed());
    if (typeof $ref === "string") left.push(findReference(root, $ref));
  }
  return [...found];
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
