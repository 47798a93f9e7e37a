export interface Layer {
  readonly name: string;
  /** Prefixes of the layer's files, from the repository's root; the first matching layer wins. */
  readonly files: readonly string[];
  /** Layers it may import, besides itself. */
  readonly uses: readonly string[];
}

/** The tables' types; everything else in `src/db` is an adapter. */
const tableFiles = ["curation", "discovery", "execution", "learning", "permission"].map(
  (area) => `src/db/${area}-tables.ts`,
);

/** Layers that every other one may use. */
const COMMON: readonly string[] = ["base", "words", "secrets"];

/**
 * The allowed imports, from the bottom up. A file of no layer, or an import that is not listed, fails the check: the
 * table is changed on purpose or not at all.
 */
export const LAYERS: readonly Layer[] = [
  { name: "base", files: ["src/base/"], uses: [] },
  {
    name: "words",
    files: [
      "src/catalogue/tool-id.ts",
      "src/permissions/effect.ts",
      "src/permissions/read-like.ts",
      "src/permissions/tool-pattern.ts",
      "src/registry/record-words.ts",
    ],
    uses: [],
  },
  { name: "config", files: ["src/config/"], uses: [] },
  { name: "contract", files: ["src/contract/"], uses: [] },
  { name: "sdk", files: ["src/sdk/"], uses: ["contract"] },
  { name: "secrets", files: ["src/secrets/"], uses: ["base"] },
  { name: "client-config", files: ["src/client-config/"], uses: ["config"] },
  { name: "auth", files: ["src/auth/"], uses: ["config"] },
  { name: "db-client", files: ["src/db/client.ts", "src/db/columns.ts", "src/db/tables.ts", ...tableFiles], uses: [] },
  { name: "db", files: ["src/db/"], uses: ["db-client"] },
  { name: "analysis", files: ["src/analysis/"], uses: [] },
  { name: "registry", files: ["src/registry/"], uses: ["contract", "analysis", "config", "db-client"] },
  {
    name: "permissions",
    files: ["src/permissions/"],
    uses: ["registry", "analysis", "config", "db-client"],
  },
  { name: "learning", files: ["src/learning/"], uses: ["analysis", "registry", "db-client"] },
  { name: "encoder", files: ["src/discovery/embedding/encoder/"], uses: [] },
  { name: "discovery", files: ["src/discovery/"], uses: ["encoder", "learning", "analysis", "registry", "db-client"] },
  { name: "naming", files: ["src/naming/"], uses: ["analysis", "registry", "config", "db-client"] },
  { name: "housekeeping", files: ["src/housekeeping/"], uses: ["registry", "db-client"] },
  { name: "worker-bridge", files: ["src/execution/worker-bridge.ts"], uses: [] },
  { name: "sandbox-guest", files: ["src/sandbox/guest/"], uses: ["worker-bridge"] },
  { name: "sandbox-child", files: ["src/sandbox/child/"], uses: ["sandbox-guest"] },
  { name: "sandbox", files: ["src/sandbox/"], uses: ["sandbox-guest", "worker-bridge"] },
  { name: "upstream", files: ["src/upstream/"], uses: ["registry", "config", "db-client"] },
  { name: "catalogue", files: ["src/catalogue/"], uses: ["upstream", "analysis", "registry"] },
  { name: "execution-ports", files: ["src/execution/ports.ts"], uses: ["catalogue", "worker-bridge"] },
  {
    name: "call-records",
    files: ["src/gateway/results/", "src/gateway/usage/"],
    uses: ["auth", "registry", "worker-bridge", "db-client"],
  },
  {
    name: "gateway",
    files: ["src/gateway/"],
    uses: [
      "call-records",
      "execution-ports",
      "worker-bridge",
      "catalogue",
      "upstream",
      "permissions",
      "registry",
      "auth",
    ],
  },
  {
    name: "execution",
    files: ["src/execution/"],
    uses: [
      "contract",
      "worker-bridge",
      "execution-ports",
      "call-records",
      "catalogue",
      "analysis",
      "permissions",
      "learning",
      "registry",
      "config",
      "db-client",
    ],
  },
  {
    name: "app",
    files: ["src/app/"],
    uses: [
      "contract",
      "analysis",
      "config",
      "db",
      "db-client",
      "registry",
      "housekeeping",
      "call-records",
      "learning",
      "discovery",
      "naming",
      "permissions",
      "execution",
      "execution-ports",
      "sandbox",
      "upstream",
      "catalogue",
      "gateway",
    ],
  },
  {
    name: "mcp",
    files: ["src/mcp/"],
    uses: [
      "contract",
      "auth",
      "upstream",
      "catalogue",
      "gateway",
      "call-records",
      "learning",
      "discovery",
      "execution",
      "execution-ports",
      "naming",
      "registry",
      "config",
    ],
  },
  {
    name: "http",
    files: ["src/http/"],
    uses: ["contract", "auth", "app", "execution", "permissions", "registry", "naming"],
  },
  { name: "std", files: ["lib/std/mcp/"], uses: ["contract", "mcp", "registry"] },
  {
    name: "daemon",
    files: ["src/daemon/"],
    uses: ["contract", "std", "auth", "app", "http", "mcp", "catalogue", "permissions", "registry", "config", "db"],
  },
  {
    name: "cli",
    files: ["src/cli/"],
    uses: [
      "contract",
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
      "db",
      "housekeeping",
      "naming",
    ],
  },
  { name: "main", files: ["src/main.ts"], uses: ["cli", "daemon", "config"] },
];

export function findLayer(file: string): Layer | undefined {
  return LAYERS.find(({ files }) =>
    files.some((prefix) => file === prefix || (prefix.endsWith("/") && file.startsWith(prefix))),
  );
}

/** Returns the problem with an import between two files of the product, if any. */
export function checkImport(from: string, to: string): string | undefined {
  const source = findLayer(from);
  const target = findLayer(to);
  if (source === undefined) return `${from} belongs to no layer`;
  if (target === undefined) return `${from} imports ${to}, which belongs to no layer`;
  const isCommon = COMMON.includes(target.name) && !COMMON.includes(source.name);
  if (source === target || isCommon || source.uses.includes(target.name)) return undefined;
  return `${from} (${source.name}) must not import ${to} (${target.name})`;
}
