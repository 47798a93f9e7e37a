import { existsSync, readFileSync } from "node:fs";
import { PmlError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { replaceFile } from "../base/replace-file.ts";
import { readJson, setJson } from "./edit-json.ts";

/**
 * Removes the belief in a server's hints from an entry that somebody else wrote, such as the configuration of a client
 * or a project: only a person gives it.
 */
export function withoutTrust<Entry extends object>(entry: Entry): Entry {
  if (!("pml" in entry) || !isObject(entry.pml)) return entry;
  const { pml, ...rest } = entry;
  const { trustHints: _belief, ...others } = pml;
  return (Object.keys(others).length === 0 ? rest : { ...rest, pml: others }) as Entry;
}

/** Writes into the user's configuration whether the hints of one of its servers are believed. */
export function writeTrust(file: string, server: string, trust: boolean): void {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "{}";
  const { mcpServers } = readJson(text);
  if (!isObject(mcpServers) || !isObject(mcpServers[server])) {
    throw new PmlError("server_not_found", `There is no server "${server}" in ${file}`, {
      hint: "Hints of servers in that file can be believed; those of the servers that ship with PML are",
    });
  }
  replaceFile(file, setJson(text, ["mcpServers", server, "pml", "trustHints"], trust ? true : undefined), 0o600);
}
