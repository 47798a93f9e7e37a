/** An argument that is also sent as an HTTP header, so that intermediaries can route by it. */
interface HeaderParam {
  /** Path in the arguments. */
  readonly path: readonly string[];
  readonly header: string;
}

type Schema = Readonly<Record<string, unknown>>;

const HEADER_TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRIMITIVES: readonly unknown[] = ["string", "integer", "number", "boolean"];

/** Results by schema: schemas live as long as their offer and are looked up with every call. */
const found = new WeakMap<Schema, readonly HeaderParam[]>();

/** Finds the arguments that a tool's schema marks with `x-mcp-header`; ignores marks that the protocol does not allow. */
export function findHeaderParams(inputSchema: Schema): readonly HeaderParam[] {
  const known = found.get(inputSchema);
  if (known !== undefined) return known;
  const byName = new Map<string, HeaderParam>();
  for (const param of markedIn(inputSchema, [])) {
    const name = param.header.toLowerCase();
    if (!byName.has(name)) byName.set(name, param);
  }
  const params = [...byName.values()];
  found.set(inputSchema, params);
  return params;
}

function markedIn(schema: Schema, path: readonly string[]): HeaderParam[] {
  const { properties } = schema;
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, child]) => {
    if (!isObject(child)) return [];
    const here = [...path, key];
    const header = child["x-mcp-header"];
    const allowed = typeof header === "string" && HEADER_TOKEN.test(header) && PRIMITIVES.includes(child["type"]);
    return [...(allowed ? [{ path: here, header }] : []), ...markedIn(child, here)];
  });
}

/** Builds the headers of one call; missing arguments and arguments of a wrong type have none. */
export function paramHeaders(inputSchema: Schema, args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, header } of findHeaderParams(inputSchema)) {
    const text = toText(path.reduce((value, key) => (isObject(value) ? value[key] : undefined), args));
    if (text !== undefined) headers[`Mcp-Param-${header}`] = encode(text);
  }
  return headers;
}

function toText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  const isExact = typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isExact && Number.isFinite(value) ? String(value) : undefined;
}

/** Matches text that a header carries unchanged. */
const PLAIN = /^[!-~]([\t -~]*[!-~])?$/;
const ENCODED = /^=\?base64\?.*\?=$/;

function encode(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
