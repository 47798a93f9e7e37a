import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Environment } from "./environment.ts";
import type { McpServerEntry } from "./schema.ts";

export type ServerDefinition =
  | { readonly name: string; readonly state: "usable"; readonly entry: McpServerEntry }
  | { readonly name: string; readonly state: "disabled" }
  | { readonly name: string; readonly state: "unusable"; readonly reason: string };

/** Expands the variables of every entry. An unset variable makes only its own server unusable. */
export function resolveServers(
  entries: Readonly<Record<string, McpServerEntry>>,
  env: Environment,
): ServerDefinition[] {
  return Object.entries(entries).map(([name, entry]) => resolveServer(name, entry, env));
}

function resolveServer(name: string, entry: McpServerEntry, env: Environment): ServerDefinition {
  if (entry.disabled === true || entry.enabled === false) return { name, state: "disabled" };
  const missing = new Set<string>();
  const expand = (text: string): string => expandVariables(text, env, missing);
  const expandAll = (map: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, expand(value)]));
  const expanded: McpServerEntry = {
    ...entry,
    ...(entry.command === undefined ? {} : { command: expand(entry.command) }),
    ...(entry.args === undefined ? {} : { args: entry.args.map(expand) }),
    ...(entry.env === undefined ? {} : { env: expandAll(entry.env) }),
    ...(entry.cwd === undefined ? {} : { cwd: expand(entry.cwd) }),
    ...(entry.envFile === undefined ? {} : { envFile: expand(entry.envFile) }),
    ...(entry.url === undefined ? {} : { url: expand(entry.url) }),
    ...(entry.headers === undefined ? {} : { headers: expandAll(entry.headers) }),
  };
  const names = [...missing].join(", ");
  if (missing.size > 0)
    return { name, state: "unusable", reason: `${names} ${missing.size === 1 ? "is" : "are"} not set` };
  return addEnvFile(name, expanded);
}

/** Adds the variables of `envFile`; those of the entry itself win. */
function addEnvFile(name: string, entry: McpServerEntry): ServerDefinition {
  const { envFile, ...rest } = entry;
  if (envFile === undefined) return { name, state: "usable", entry };
  try {
    const fromFile = parseEnv(readFileSync(resolve(entry.cwd ?? "", envFile), "utf8")) as Record<string, string>;
    return { name, state: "usable", entry: { ...rest, env: { ...fromFile, ...entry.env } } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, state: "unusable", reason: `its envFile cannot be read: ${reason}` };
  }
}

const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

function expandVariables(text: string, env: Environment, missing: Set<string>): string {
  return text.replace(VARIABLE, (_match, name: string, fallback: string | undefined) => {
    // As in a shell, `:-` also covers an empty variable.
    const value = fallback === undefined ? env[name] : env[name] || fallback;
    if (value === undefined) missing.add(name);
    return value ?? "";
  });
}
