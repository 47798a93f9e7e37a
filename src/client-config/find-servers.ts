import { existsSync, readFileSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { PmlError } from "../base/errors.ts";
import { CLIENTS, type Client } from "./client-table.ts";
import { FORMATS } from "./formats.ts";
import type { Places } from "./places.ts";
import { type FoundServer, projectOf, readServers, type SourceFile } from "./read-servers.ts";

export interface Findings {
  readonly servers: readonly FoundServer[];
  /** Every file that was looked for. */
  readonly looked: readonly string[];
  /** Those of them that are there. */
  readonly read: readonly string[];
}

/** The servers in a client's own files: the user's, then those of the current project. */
export function findClientServers(clients: readonly Client[], places: Places): Findings {
  const sources = clients.flatMap((client) => listSources(client, places));
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

/** The servers in one file, whoever wrote it; a client's name says how variables are written in it. */
export function findFileServers(path: string, client: string | undefined, places: Places): Findings {
  const file = resolve(path);
  const servers = readSource({
    path: file,
    project: isProjectFile(file, places) ? projectOf(file) : undefined,
    client,
  });
  return { servers, looked: [file], read: [file] };
}

function listSources(client: Client, places: Places): SourceFile[] {
  const ofProject = client.project.map((path) => join(places.project, path));
  const also = client.alsoReads?.(places) ?? [];
  return [...client.user(places), ...also, ...ofProject].map((path) => ({
    path,
    project: !client.user(places).includes(path) && isProjectFile(path, places) ? projectOf(path) : undefined,
    client: client.id,
  }));
}

/** Project files have the same names everywhere, and some are those of the user's own files. */
function isProjectFile(file: string, places: Places): boolean {
  if (CLIENTS.some(({ user }) => user(places).includes(file))) return false;
  const names = CLIENTS.flatMap(({ project }) => project);
  return [...names, ".vscode/settings.json"].some((name) => file.endsWith(join("/", name)));
}

function readSource(source: SourceFile): FoundServer[] {
  const { path } = source;
  try {
    return readServers(parseAny(path, readFileSync(path, "utf8")), source);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("client_config_unusable", `${path} cannot be read: ${reason}`, {
      hint: "Files with MCP servers are JSON (comments are fine) or, of Codex, TOML",
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
