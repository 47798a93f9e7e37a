export interface Layer {
  readonly name: string;
  /** Files of the layer, as prefixes below the repository's root; the first layer that fits counts. */
  readonly files: readonly string[];
  /** Layers it may import, besides itself. */
  readonly uses: readonly string[];
}

/** The tables' types; everything else in `src/db` is an adapter. */
const tableFiles = ["curation", "discovery", "execution", "learning", "permission"].map(
  (area) => `src/db/${area}-tables.ts`,
);

/**
 * Who may import whom, from the bottom up. A file of no layer, or an import that is not listed, fails
 * the check: the table is changed on purpose or not at all.
 */
export const LAYERS: readonly Layer[] = [
  { name: "base", files: ["src/base/"], uses: [] },
  { name: "permission-words", files: ["src/permissions/effect.ts", "src/permissions/tool-pattern.ts"], uses: [] },
  { name: "config", files: ["src/config/"], uses: ["permission-words", "base"] },
  { name: "sdk", files: ["src/sdk/"], uses: [] },
  { name: "secrets", files: ["src/secrets/"], uses: ["base"] },
  { name: "client-config", files: ["src/client-config/"], uses: ["config", "base"] },
  { name: "auth", files: ["src/auth/"], uses: ["config", "base"] },
  { name: "db-client", files: ["src/db/client.ts", "src/db/columns.ts", "src/db/tables.ts", ...tableFiles], uses: [] },
  { name: "db", files: ["src/db/"], uses: ["db-client", "base"] },
  { name: "analysis", files: ["src/analysis/"], uses: ["base"] },
  { name: "registry", files: ["src/registry/"], uses: ["analysis", "config", "db-client", "base"] },
  {
    name: "permissions",
    files: ["src/permissions/"],
    uses: ["permission-words", "registry", "config", "db-client", "base"],
  },
  { name: "learning", files: ["src/learning/"], uses: ["analysis", "registry", "db-client", "base"] },
  { name: "discovery", files: ["src/discovery/"], uses: ["learning", "analysis", "registry", "db-client", "base"] },
  { name: "naming", files: ["src/naming/"], uses: ["registry", "config", "db-client", "base"] },
  { name: "housekeeping", files: ["src/housekeeping/"], uses: ["registry", "db-client", "base"] },
  {
    name: "records",
    files: ["src/gateway/results/", "src/gateway/usage/"],
    uses: ["auth", "mcp", "registry", "db-client", "base"],
  },
  {
    name: "execution-ports",
    files: ["src/execution/ports.ts"],
    uses: ["analysis", "permission-words", "permissions", "base"],
  },
  { name: "worker-bridge", files: ["src/execution/worker-bridge.ts"], uses: ["base"] },
  { name: "sandbox-guest", files: ["src/sandbox/guest/"], uses: ["worker-bridge"] },
  { name: "sandbox-child", files: ["src/sandbox/child/"], uses: ["sandbox-guest"] },
  { name: "sandbox", files: ["src/sandbox/"], uses: ["sandbox-guest", "worker-bridge", "base"] },
  {
    name: "execution",
    files: ["src/execution/"],
    uses: [
      "worker-bridge",
      "execution-ports",
      "analysis",
      "permission-words",
      "permissions",
      "learning",
      "records",
      "registry",
      "config",
      "db-client",
      "base",
    ],
  },
  {
    name: "upstream",
    files: ["src/upstream/"],
    uses: ["execution-ports", "registry", "config", "secrets", "db-client", "base"],
  },
  {
    name: "catalogue",
    files: ["src/catalogue/"],
    uses: ["mcp", "execution-ports", "registry", "upstream", "config", "base"],
  },
  {
    name: "gateway",
    files: ["src/gateway/"],
    uses: [
      "mcp",
      "catalogue",
      "records",
      "execution",
      "execution-ports",
      "permissions",
      "permission-words",
      "upstream",
      "auth",
      "registry",
      "config",
      "base",
    ],
  },
  {
    name: "app",
    files: ["src/app/"],
    uses: [
      "config",
      "secrets",
      "db",
      "db-client",
      "registry",
      "housekeeping",
      "records",
      "learning",
      "discovery",
      "naming",
      "permissions",
      "permission-words",
      "execution",
      "execution-ports",
      "sandbox",
      "upstream",
      "catalogue",
      "gateway",
      "base",
    ],
  },
  {
    name: "mcp",
    files: ["src/mcp/"],
    uses: [
      "auth",
      "upstream",
      "catalogue",
      "gateway",
      "records",
      "learning",
      "discovery",
      "execution",
      "execution-ports",
      "naming",
      "registry",
      "permission-words",
      "config",
      "base",
    ],
  },
  {
    name: "http",
    files: ["src/http/"],
    uses: ["auth", "app", "execution", "permissions", "registry", "naming", "base"],
  },
  { name: "std", files: ["lib/std/mcp/"], uses: ["mcp", "registry", "base"] },
  {
    name: "daemon",
    files: ["src/daemon/"],
    uses: ["std", "auth", "app", "http", "mcp", "catalogue", "permissions", "registry", "config", "db", "base"],
  },
  {
    name: "cli",
    files: ["src/cli/"],
    uses: [
      "app",
      "daemon",
      "mcp",
      "catalogue",
      "upstream",
      "registry",
      "sdk",
      "client-config",
      "permissions",
      "config",
      "secrets",
      "db",
      "housekeeping",
      "naming",
      "base",
    ],
  },
  { name: "main", files: ["src/main.ts"], uses: ["cli", "daemon", "config", "base"] },
];

export function findLayer(file: string): Layer | undefined {
  return LAYERS.find(({ files }) =>
    files.some((prefix) => file === prefix || (prefix.endsWith("/") && file.startsWith(prefix))),
  );
}

/** What is wrong with an import between two files of the product, if anything. */
export function checkImport(from: string, to: string): string | undefined {
  const source = findLayer(from);
  const target = findLayer(to);
  if (source === undefined) return `${from} belongs to no layer`;
  if (target === undefined) return `${from} imports ${to}, which belongs to no layer`;
  if (source === target || source.uses.includes(target.name)) return undefined;
  return `${from} (${source.name}) must not import ${to} (${target.name})`;
}
