import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { applyEdits, modify } from "jsonc-parser";
import { findConfigFile } from "./config-file.ts";
import type { Environment } from "./environment.ts";
import { resolveHome } from "./environment.ts";
import type { McpServerEntry } from "./schema.ts";

export interface ServerEdit {
  readonly file: string;
  /** Whether the server was in the file before. */
  readonly existed: boolean;
  /** Whether the file had no servers at all, so that those that ship with PML were in use. */
  readonly first: boolean;
}

/**
 * Sets or removes one server in the configuration file that is in force, or in $PML_HOME/pml.json when
 * there is none. Comments and everything else stay as they are.
 */
export function editServer(
  asked: string | undefined,
  env: Environment,
  name: string,
  entry: McpServerEntry | undefined,
): ServerEdit {
  const home = resolveHome(env);
  const found = findConfigFile(asked, env, home);
  const file = found?.path ?? join(home, "pml.json");
  const text = found === undefined ? "{}\n" : readFileSync(file, "utf8");
  const servers = found?.value["mcpServers"];
  const existed = typeof servers === "object" && servers !== null && name in servers;
  const edits = modify(text, ["mcpServers", name], entry, { formattingOptions: { insertSpaces: true, tabSize: 2 } });
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.partial`;
  writeFileSync(partial, applyEdits(text, edits), { mode: 0o600 });
  renameSync(partial, file);
  return { file, existed, first: servers === undefined };
}
