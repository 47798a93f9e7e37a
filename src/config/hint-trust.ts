import { existsSync, readFileSync } from "node:fs";
import { PmlError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { replaceFile } from "../base/replace-file.ts";
import { readJson, setJson } from "./edit-json.ts";

/**
 * Removes PML's own settings from an entry that somebody else wrote, such as the configuration of a client: they could
 * make hints believed, lift reviews, or send a file as a secret.
 */
export function withoutOwnSettings<Entry extends { readonly pml?: unknown }>(entry: Entry): Omit<Entry, "pml"> {
  const { pml: _own, ...rest } = entry;
  return rest;
}

export interface HintBelief {
  readonly trust: boolean;
  readonly reads: ConfirmedReads;
}

/** Tools that a person confirmed to only read, with the hashes of their definitions. */
export type ConfirmedReads = Readonly<Record<string, string>>;

/** Writes into the user's configuration whether the hints of one of its servers are believed, and what was confirmed. */
export function writeTrust(file: string, server: string, { trust, reads }: HintBelief): void {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "{}";
  const { mcpServers } = readJson(text);
  if (!isObject(mcpServers) || !isObject(mcpServers[server])) {
    throw new PmlError("server_not_found", `There is no server "${server}" in ${file}`, {
      hint: "Hints of servers in that file can be believed; those of the servers that ship with PML are",
    });
  }
  const believed = setJson(text, ["mcpServers", server, "pml", "trustHints"], trust ? true : undefined);
  const confirmed = trust && Object.keys(reads).length > 0 ? reads : undefined;
  replaceFile(file, setJson(believed, ["mcpServers", server, "pml", "reads"], confirmed), 0o600);
}
