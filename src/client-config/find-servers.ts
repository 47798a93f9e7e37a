import { existsSync, readFileSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { PmlError } from "../base/errors.ts";
import { CLIENTS, type Client } from "./client-table.ts";
import { FORMATS } from "./formats.ts";
import type { ConfigFolders } from "./config-folders.ts";
import { type FoundServer, projectOf, readServers, type ConfigSource } from "./read-servers.ts";

export interface FoundServers {
  readonly servers: readonly FoundServer[];
  /** All candidate files. */
  readonly looked: readonly string[];
  /** Candidate files that exist. */
  readonly read: readonly string[];
}

/** Finds the servers in the clients' own files: the user's, then those of the current project. */
export function findClientServers(clients: readonly Client[], folders: ConfigFolders): FoundServers {
  const sources = clients.flatMap((client) => listSources(client, folders));
  // In the home folder a project's file may be the user's own.
  const there = sources.filter(
    ({ path }, index) => existsSync(path) && sources.findIndex((source) => source.path === path) === index,
  );
  return {
    servers: there.flatMap(readSource),
    looked: [...new Set(sources.map(({ path }) => path))],
    read: there.map(({ path }) => path),
  };
}

/** Finds the servers in one file of any client; the client's name selects its syntax for variables. */
export function findFileServers(path: string, client: string | undefined, folders: ConfigFolders): FoundServers {
  const file = resolve(path);
  const servers = readSource({
    path: file,
    project: isProjectFile(file, folders) ? projectOf(file) : undefined,
    client,
  });
  return { servers, looked: [file], read: [file] };
}

function listSources(client: Client, folders: ConfigFolders): ConfigSource[] {
  const ofProject = client.project.map((path) => join(folders.project, path));
  const also = client.alsoReads?.(folders) ?? [];
  return [...client.user(folders), ...also, ...ofProject].map((path) => ({
    path,
    project: !client.user(folders).includes(path) && isProjectFile(path, folders) ? projectOf(path) : undefined,
    client: client.id,
  }));
}

/** Checks by name: project files have the same names everywhere, and some equal those of the user's own files. */
export function isProjectFile(file: string, folders: ConfigFolders): boolean {
  if (CLIENTS.some(({ user }) => user(folders).includes(file))) return false;
  const names = CLIENTS.flatMap(({ project }) => project);
  return [...names, ".vscode/settings.json"].some((name) => file.endsWith(join("/", name)));
}

function readSource(source: ConfigSource): FoundServer[] {
  const { path } = source;
  try {
    return readServers(parseAny(path, readFileSync(path, "utf8")), source);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("client_config_unusable", `${path} cannot be read: ${reason}`, {
      hint: "Files with MCP servers are JSON (comments are fine) or, for Codex, TOML",
      cause,
    });
  }
}

function parseAny(path: string, text: string): Record<string, unknown> {
  const extension = extname(path);
  if (extension === ".toml") return FORMATS.toml.read(text);
  if (extension.startsWith(".json") || text.trimStart().startsWith("{")) return FORMATS.json.read(text);
  return FORMATS.toml.read(text);
}
