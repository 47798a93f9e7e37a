import { foldServer } from "../catalogue/tool-id.ts";
import { dirname, resolve } from "node:path";
import { isObject } from "../base/json.ts";
import { PmlError } from "../base/errors.ts";
import { bundledServers } from "./bundled-servers.ts";
import { checkServerEntry } from "./check-entry.ts";
import { type ConfigFile, parseConfigFile } from "./config-file.ts";
import { CONFIG_FILE, type ProjectFile } from "./project-file.ts";
import { configSchema, type ConfigValues, type McpServerEntry } from "./schema.ts";
import type { TrustedFile } from "./trusted-files.ts";

type Servers = Readonly<Record<string, McpServerEntry>>;

/** The part of a project's pml.json that counts: servers, and rules that forbid or ask. */
export interface ProjectConfig {
  readonly servers: Servers;
  readonly permissions: Pick<ConfigValues["permissions"], "ask" | "deny">;
  /** Keys of the file that have no effect. */
  readonly ignored: readonly string[];
}

/** Parses a project's pml.json; throws if a part that counts is invalid. */
export function readProjectConfig({ path, text }: Pick<ProjectFile, "path" | "text">): ProjectConfig {
  const file = parseConfigFile(path, text);
  const { mcpServers = {}, permissions = {}, ...rest } = file.value;
  if (!isObject(mcpServers)) throw invalid(file, ["mcpServers"], "must be an object");
  if (!isObject(permissions)) throw invalid(file, ["permissions"], "must be an object");
  const servers = Object.entries(mcpServers).map(([name, entry]) => [name, readServer(path, name, entry)] as const);
  return {
    servers: Object.fromEntries(servers),
    permissions: readPermissions(file),
    ignored: [
      ...Object.keys(rest),
      ...Object.keys(permissions)
        .filter((key) => key !== "ask" && key !== "deny")
        .map((key) => `permissions.${key}`),
      ...Object.entries(mcpServers).flatMap(([name, entry]) =>
        isObject(entry) && entry["pml"] !== undefined ? [`mcpServers.${name}.pml`] : [],
      ),
    ],
  };
}

/** Leaves out PML's own settings of a server, which could lower its effects or lift its reviews. */
function readServer(path: string, name: string, value: unknown): McpServerEntry {
  const { pml: _own, ...entry } = checkServerEntry(name, structuredClone(value));
  if (entry.command === undefined) return entry;
  const { cwd = "." } = entry;
  return { ...entry, cwd: cwd.startsWith("${") ? cwd : resolve(dirname(path), cwd) };
}

function readPermissions(file: ConfigFile): ProjectConfig["permissions"] {
  const parsed = configSchema.safeParse({ permissions: structuredClone(file.value["permissions"]) });
  if (parsed.success) return { ask: parsed.data.permissions.ask, deny: parsed.data.permissions.deny };
  const [issue] = parsed.error.issues;
  throw invalid(file, issue?.path ?? ["permissions"], issue?.message ?? "is not valid");
}

function invalid(file: ConfigFile, path: readonly PropertyKey[], problem: string): PmlError {
  return new PmlError("config_invalid", `${file.locate(path)}: "${path.join(".")}" ${problem}`, {
    hint: "All keys are in docs/reference/config.md",
  });
}

interface ServerSources extends Pick<ConfigValues, "mcpServers"> {
  readonly home: string;
  readonly file: string | undefined;
  readonly projects: readonly TrustedFile[];
}

/**
 * Lists the servers of the configuration and of trusted projects. A name that is taken stays with its first owner, so
 * that no project takes the place of a server the user configured.
 */
export function allServers({ mcpServers, home, file, projects }: ServerSources): Servers {
  const folder = file === undefined ? home : dirname(file);
  const servers = new Map(
    Object.entries(mcpServers ?? bundledServers(home)).map(([name, entry]) => [name, withFolder(entry, folder)]),
  );
  const taken = new Set([...servers.keys()].map(foldServer));
  for (const [name, entry] of projectServers(projects)) {
    if (taken.has(foldServer(name))) continue;
    taken.add(foldServer(name));
    servers.set(name, entry);
  }
  return Object.fromEntries(servers);
}

/** Servers of unchanged trusted files, in the order of trust. */
function projectServers(projects: readonly TrustedFile[]): (readonly [string, McpServerEntry])[] {
  return projects
    .filter(({ name, state }) => name === CONFIG_FILE && state === "trusted")
    .flatMap((project) => Object.entries(readProjectConfig(project).servers));
}

/**
 * Runs a program in the folder of its configuration unless told otherwise: in the folder in which somebody happened to
 * start PML, `npx` and interpreters would load code of that folder.
 */
function withFolder(entry: McpServerEntry, folder: string): McpServerEntry {
  return entry.command === undefined || entry.cwd !== undefined ? entry : { ...entry, cwd: folder };
}
