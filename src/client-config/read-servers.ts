import { dirname, isAbsolute } from "node:path";

/** A client's syntax for references to variables. */
type Dialect = "common" | "gemini" | "opencode";

/** A value that VS Code asks its user for. */
interface InputVariable {
  readonly id: string;
  readonly description?: string;
  readonly default?: string;
  readonly password?: boolean;
}

/** One server as found in a client's file. */
export interface FoundServer {
  readonly name: string;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly file: string;
  /** Its folder, if it does not apply to all of them. */
  readonly project: string | undefined;
  readonly dialect: Dialect;
  readonly inputs: readonly InputVariable[];
  /** Disabled by a list elsewhere in the file. */
  readonly off: boolean;
}

export interface ConfigSource {
  readonly path: string;
  /** The folder of the project that the file belongs to. */
  readonly project: string | undefined;
  /** The client the file belongs to, if known. */
  readonly client: string | undefined;
}

type Table = Readonly<Record<string, unknown>>;

interface ServerSection {
  readonly servers: unknown;
  readonly project?: string | undefined;
  readonly dialect?: Dialect;
  readonly inputs?: unknown;
  readonly off?: readonly unknown[];
}

/** Reads all servers of a parsed file of any client: the keys identify the format. */
export function readServers(value: Table, { path, project, client }: ConfigSource): FoundServer[] {
  return findSections(value, client).flatMap((section) =>
    Object.entries(asTable(section.servers)).flatMap(([name, raw]) =>
      isTable(raw)
        ? [
            {
              name,
              raw,
              file: path,
              project: section.project ?? project,
              dialect: section.dialect ?? "common",
              inputs: asList(section.inputs).filter(isInput),
              off: (section.off ?? []).includes(name),
            },
          ]
        : [],
    ),
  );
}

function findSections(value: Table, client: string | undefined): ServerSection[] {
  const mcp = asTable(value["mcp"]);
  const gemini = client === "gemini";
  return [
    {
      servers: value["mcpServers"],
      dialect: gemini ? "gemini" : "common",
      off: [...asList(mcp["excluded"]), ...asList(value["disabledMcpServers"])],
    },
    ...findClaudeProjects(value),
    { servers: value["servers"], inputs: value["inputs"] },
    { servers: mcp["servers"], inputs: mcp["inputs"] },
    { servers: value["mcp_servers"] },
    { servers: onlyOpencode(mcp), dialect: "opencode" },
  ];
}

/** Claude Code keeps servers of one folder beside those of all. */
function findClaudeProjects(value: Table): ServerSection[] {
  return Object.entries(asTable(value["projects"]))
    .filter(([folder]) => isAbsolute(folder))
    .map(([folder, settings]) => ({
      servers: asTable(settings)["mcpServers"],
      project: folder,
      off: asList(asTable(settings)["disabledMcpServers"]),
    }));
}

function onlyOpencode(mcp: Table): Table {
  return Object.fromEntries(Object.entries(mcp).filter(([, entry]) => isOpencode(entry)));
}

function isOpencode(entry: unknown): boolean {
  return isTable(entry) && (entry["type"] === "local" || entry["type"] === "remote");
}

/** Returns the folder of a project's file: its parent, or the parent of the client's folder in it. */
export function projectOf(path: string): string {
  const folder = dirname(path);
  return /[/\\]\.(?:cursor|vscode|gemini|codex|github)$/.test(folder) ? dirname(folder) : folder;
}

function isInput(value: unknown): value is InputVariable {
  return isTable(value) && typeof value["id"] === "string";
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asTable(value: unknown): Table {
  return isTable(value) ? value : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
