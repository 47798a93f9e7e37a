import { z } from "zod";
import { configSchema } from "../../src/config/schema.ts";

interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
}

export function renderConfigReference(): string {
  const schema = z.toJSONSchema(configSchema, { io: "input" }) as SchemaNode;
  const rows = Object.entries(schema.properties ?? {}).flatMap(([key, node]) => describe(key, node));
  return `# Configuration

Generated from \`src/config/schema.ts\`.

The file is JSON; comments and trailing commas are fine. The first of these is read: \`--config <file>\`, \`$PML_CONFIG\`,
\`$PML_HOME/pml.json\`. Environment variables win over the file, flags win over both. A broken file stops PML with file, line
and column; it never falls back to defaults.

\`pml.json\` and \`mcp-permissions.yaml\` of a project (the working directory) count after \`pml trust <path>\`, which shows what
they would do. They add the servers that were shown and rules that deny or ask; every other key in them is ignored.

| key | type | default | meaning |
|---|---|---|---|
${rows.join("\n")}

In \`command\`, \`args\`, \`env\`, \`url\` and \`headers\` of a server, \`\${VAR}\`, \`\${env:VAR}\` and \`\${VAR:-default}\` are
replaced. A variable that is not set and has no default makes that server unusable, and no other.

| environment variable | meaning |
|---|---|
| \`PML_HOME\` | where everything is kept (default \`~/.pml\`) |
| \`PML_CONFIG\` | configuration file |
| \`PML_PORT\` | \`http.port\` |
| \`DATABASE_URL\` | \`database.url\` |
| \`PML_ORG\`, \`PML_PROJECT\` | \`scope.org\`, \`scope.project\` |
| \`PML_LOG_LEVEL\` | \`log.level\` |
| \`PML_SECRET_KEY\` | key that logins are sealed with; wins over \`secrets.keyFile\` |
| \`PML_DEBUG\` | print where errors come from |
| \`NO_COLOR\`, \`FORCE_COLOR\`, \`TERM=dumb\` | colours |
`;
}

function describe(key: string, node: SchemaNode): string[] {
  const children = Object.entries(node.properties ?? {}).flatMap(([name, child]) => describe(`${key}.${name}`, child));
  const each = typeof node.additionalProperties === "object" ? describeEntries(key, node.additionalProperties) : [];
  if (children.length > 0) return children;
  const fallback = node.default === undefined ? "" : `\`${JSON.stringify(node.default)}\``;
  return [`| \`${key}\` | ${describeType(node)} | ${fallback} | ${node.description ?? ""} |`, ...each];
}

/** A map with simple values needs no rows of its own. */
function describeEntries(key: string, entry: SchemaNode): string[] {
  return entry.properties === undefined ? [] : describe(`${key}.<name>`, entry);
}

function describeType(node: SchemaNode): string {
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (node.type === "array") return `list of ${describeType(node.items ?? {})}`;
  if (node.type === "object") return "map";
  return node.type ?? "any";
}
