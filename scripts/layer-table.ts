export interface Layer {
  readonly name: string;
  /** Files of the layer, as prefixes below the repository's root; the first layer that fits counts. */
  readonly files: readonly string[];
  /** Layers it may import, besides itself. */
  readonly uses: readonly string[];
}

/**
 * Who may import whom, from the bottom up. A file of no layer, or an import that is not listed, fails
 * the check: the table is changed on purpose or not at all.
 */
export const LAYERS: readonly Layer[] = [
  {
    name: "errors",
    files: ["src/error-kind.ts", "src/error-kinds.ts", "src/errors.ts", "src/record-errors.ts"],
    uses: [],
  },
  { name: "events", files: ["src/events.ts"], uses: [] },
  {
    name: "basics",
    files: [
      "src/collect-garbage.ts",
      "src/content-hash.ts",
      "src/file-lock.ts",
      "src/find-command.ts",
      "src/json.ts",
      "src/lines.ts",
      "src/log-file.ts",
      "src/log.ts",
      "src/optimize-early.ts",
      "src/package-info.ts",
      "src/passing-map.ts",
      "src/port-owner.ts",
      "src/replace-file.ts",
      "src/storable.ts",
      "src/sync-path.ts",
      "src/tracing.ts",
      "src/visible.ts",
      "src/without-undefined.ts",
      "src/write-together.ts",
    ],
    uses: [],
  },
  { name: "permission-words", files: ["src/permissions/effect.ts", "src/permissions/tool-pattern.ts"], uses: [] },
  { name: "config", files: ["src/config/"], uses: ["permission-words", "errors", "basics"] },
  { name: "client", files: ["src/client/"], uses: [] },
  { name: "secrets", files: ["src/secrets/"], uses: ["errors"] },
  { name: "clients", files: ["src/clients/"], uses: ["config", "errors", "basics"] },
  { name: "auth", files: ["src/auth/"], uses: ["config", "errors", "basics"] },
  {
    name: "db-client",
    files: [
      "src/db/client.ts",
      "src/db/columns.ts",
      "src/db/curation-tables.ts",
      "src/db/discovery-tables.ts",
      "src/db/execution-tables.ts",
      "src/db/learning-tables.ts",
      "src/db/permission-tables.ts",
      "src/db/tables.ts",
    ],
    uses: [],
  },
  { name: "db", files: ["src/db/"], uses: ["db-client", "errors", "basics"] },
  { name: "capabilities", files: ["src/capabilities/"], uses: ["analysis", "config", "db-client", "errors", "basics"] },
  {
    name: "permissions",
    files: ["src/permissions/"],
    uses: ["permission-words", "capabilities", "config", "db-client", "events", "errors", "basics"],
  },
  { name: "analysis", files: ["src/analysis/"], uses: ["errors", "basics"] },
  { name: "graph", files: ["src/graph/"], uses: ["analysis", "capabilities", "db-client", "basics"] },
  { name: "learning", files: ["src/learning/"], uses: ["graph", "analysis", "capabilities", "db-client", "basics"] },
  {
    name: "execution-ports",
    files: ["src/execution/ports.ts"],
    uses: ["analysis", "permission-words", "permissions", "basics"],
  },
  { name: "worker-bridge", files: ["src/execution/worker-bridge.ts"], uses: ["basics"] },
  { name: "sandbox-guest", files: ["src/sandbox/guest/"], uses: ["worker-bridge"] },
  { name: "sandbox-child", files: ["src/sandbox/child/"], uses: ["sandbox-guest"] },
  { name: "sandbox", files: ["src/sandbox/"], uses: ["sandbox-guest", "worker-bridge", "errors", "basics"] },
  {
    name: "execution",
    files: ["src/execution/"],
    uses: [
      "worker-bridge",
      "execution-ports",
      "analysis",
      "permission-words",
      "permissions",
      "graph",
      "learning",
      "results",
      "capabilities",
      "config",
      "db-client",
      "errors",
      "events",
      "basics",
    ],
  },
  { name: "housekeeping", files: ["src/housekeeping/"], uses: ["capabilities", "db-client", "errors", "basics"] },
  { name: "naming", files: ["src/naming/"], uses: ["capabilities"] },
  { name: "llm", files: ["src/llm/"], uses: ["config", "errors", "basics"] },
  {
    name: "curation",
    files: ["src/curation/"],
    uses: ["naming", "llm", "capabilities", "db-client", "events", "errors", "basics"],
  },
  { name: "results", files: ["src/results/"], uses: ["capabilities", "db-client", "errors"] },
  { name: "discovery", files: ["src/discovery/"], uses: ["graph", "analysis", "capabilities", "db-client", "basics"] },
  { name: "usage", files: ["src/usage/"], uses: ["auth", "capabilities", "db-client", "basics"] },
  {
    name: "upstream",
    files: ["src/upstream/"],
    uses: ["execution-ports", "capabilities", "config", "secrets", "db-client", "errors", "basics"],
  },
  { name: "servers", files: ["src/servers/"], uses: ["capabilities", "config", "db-client", "errors", "basics"] },
  {
    name: "app",
    files: [
      "src/app.ts",
      "src/call-tool.ts",
      "src/housekeeping-jobs.ts",
      "src/name-facts.ts",
      "src/open-curation.ts",
      "src/open-discovery.ts",
      "src/open-engine.ts",
      "src/open-records.ts",
      "src/open-signing.ts",
      "src/open-suggestions.ts",
      "src/open-upstreams.ts",
    ],
    uses: [
      "config",
      "secrets",
      "db",
      "db-client",
      "capabilities",
      "housekeeping",
      "results",
      "graph",
      "learning",
      "discovery",
      "curation",
      "llm",
      "permissions",
      "permission-words",
      "execution",
      "execution-ports",
      "sandbox",
      "servers",
      "upstream",
      "usage",
      "events",
      "errors",
      "basics",
    ],
  },
  {
    name: "mcp",
    files: ["src/mcp/"],
    uses: [
      "auth",
      "upstream",
      "usage",
      "results",
      "graph",
      "discovery",
      "execution",
      "execution-ports",
      "curation",
      "llm",
      "capabilities",
      "permission-words",
      "config",
      "errors",
      "basics",
    ],
  },
  {
    name: "http",
    files: ["src/http/"],
    uses: ["auth", "app", "execution", "permissions", "capabilities", "curation", "events", "errors", "basics"],
  },
  { name: "std", files: ["lib/std/mcp/"], uses: ["mcp", "capabilities", "errors", "basics"] },
  {
    name: "daemon",
    files: ["src/daemon/"],
    uses: ["std", "auth", "app", "http", "mcp", "permissions", "capabilities", "config", "db", "errors", "basics"],
  },
  {
    name: "cli",
    files: ["src/cli/"],
    uses: [
      "app",
      "daemon",
      "mcp",
      "upstream",
      "servers",
      "client",
      "clients",
      "permissions",
      "config",
      "secrets",
      "db",
      "housekeeping",
      "curation",
      "errors",
      "basics",
    ],
  },
  { name: "main", files: ["src/main.ts"], uses: ["cli", "daemon", "config"] },
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
