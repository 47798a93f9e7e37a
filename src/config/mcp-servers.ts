import type { Environment } from "./environment.ts";
import type { McpServerEntry } from "./schema.ts";

export type ServerDefinition =
  | { readonly name: string; readonly state: "usable"; readonly entry: McpServerEntry }
  | { readonly name: string; readonly state: "disabled" }
  | { readonly name: string; readonly state: "unusable"; readonly reason: string };

/** Expands the variables of every entry. One that is not set makes that server unusable, no other. */
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
    ...(entry.url === undefined ? {} : { url: expand(entry.url) }),
    ...(entry.headers === undefined ? {} : { headers: expandAll(entry.headers) }),
  };
  if (missing.size === 0) return { name, state: "usable", entry: expanded };
  const names = [...missing].join(", ");
  return { name, state: "unusable", reason: `${names} ${missing.size === 1 ? "is" : "are"} not set` };
}

const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

function expandVariables(text: string, env: Environment, missing: Set<string>): string {
  return text.replace(VARIABLE, (_match, name: string, fallback: string | undefined) => {
    // As in a shell, `:-` also covers a variable that is set to nothing.
    const value = fallback === undefined ? env[name] : env[name] || fallback;
    if (value === undefined) missing.add(name);
    return value ?? "";
  });
}
