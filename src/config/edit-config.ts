import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../base/replace-file.ts";
import { type ConfigFile, findConfigFile, parseConfigFile } from "./config-file.ts";
import { editJson } from "./edit-json.ts";
import type { Environment } from "./environment.ts";
import { resolveHome } from "./environment.ts";
import { mergeConfig } from "./load-config.ts";
import type { McpServerEntry } from "./schema.ts";

export interface ServerEdit {
  readonly file: string;
  /** Servers that were in the file before. */
  readonly existed: readonly string[];
  /** True if the file had no servers, so that the bundled ones were in use. */
  readonly first: boolean;
}

/** New entries by name; undefined removes a server. */
export type ServerChanges = Readonly<Record<string, McpServerEntry | undefined>>;

/** Returns the configuration file in force, or the one that a first edit would create. */
export function findEditableConfig(asked: string | undefined, env: Environment): { path: string; servers: unknown } {
  const home = resolveHome(env);
  const found = findConfigFile(asked, env, home);
  // The parser's objects have no prototype, so that deep comparison would fail.
  return { path: found?.path ?? join(home, "pml.json"), servers: structuredClone(found?.value["mcpServers"]) };
}

/**
 * Sets and removes servers in the configuration file in force, or in $PML_HOME/pml.json if there is none. Keeps
 * comments and everything else. Validates each new entry with the code that reads it at the start, before writing.
 */
export function editServers(asked: string | undefined, env: Environment, changes: ServerChanges): ServerEdit {
  const { path, servers } = findEditableConfig(asked, env);
  const before = readExisting(path);
  const text = changeText(before, changes);
  if (Object.values(changes).some((entry) => entry !== undefined)) mergeConfig(parse(path, text), {}, env);
  if (text !== before) replaceFile(path, text, 0o600);
  const known = typeof servers === "object" && servers !== null ? Object.keys(servers) : [];
  return {
    file: path,
    existed: Object.keys(changes).filter((name) => known.includes(name)),
    first: servers === undefined,
  };
}

/** Adds a client to approvals.forms, or takes it out. Returns the file. */
export function editForms(
  asked: string | undefined,
  env: Environment,
  { name, allowed }: { readonly name: string; readonly allowed: boolean },
): string {
  const { path } = findEditableConfig(asked, env);
  const before = readExisting(path);
  const { approvals } = mergeConfig(parse(path, before), {}, env);
  const others = approvals.forms.filter((each) => each !== name);
  const text = editJson(before, ["approvals", "forms"], allowed ? [...others, name] : others);
  mergeConfig(parse(path, text), {}, env);
  if (text !== before) replaceFile(path, text, 0o600);
  return path;
}

function readExisting(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "{}\n"; // an unreadable file was refused before, so it does not exist yet
  }
}

function changeText(text: string, changes: ServerChanges): string {
  return Object.entries(changes).reduce(
    (changed, [name, entry]) => editJson(changed, ["mcpServers", name], entry),
    text,
  );
}

function parse(path: string, text: string): ConfigFile {
  return parseConfigFile(path, text.replace(/^\uFEFF/, ""));
}
