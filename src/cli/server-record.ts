import { readFileSync } from "node:fs";
import { callDaemon } from "../daemon/daemon-client.ts";
import { fromManifest, parseManifest } from "../registry/server-records/package-manifest.ts";
import { parseServerJson, shortServerName } from "../registry/server-records/server-json.ts";
import type { Answer, Input } from "./command.ts";
import { reachDaemon } from "./daemon-access.ts";

/**
 * The `server.json` that a file is or, as the package.json of a server, stands for; undefined for any
 * other file, which others know how to read.
 */
export function readServerRecord(path: string): string | undefined {
  const text = path.endsWith(".json") ? tryRead(path) : undefined;
  const value = text === undefined ? undefined : tryParse(text);
  if (text === undefined || typeof value !== "object" || value === null) return undefined;
  if (!("mcpName" in value)) return looksLikeServer(value) ? text : undefined;
  const manifest = parseManifest(text);
  return manifest && JSON.stringify(fromManifest(manifest), null, 2);
}

function looksLikeServer(value: object): boolean {
  if ("$schema" in value && String(value.$schema).endsWith("/server.schema.json")) return true;
  return "name" in value && "version" in value && ("packages" in value || "remotes" in value);
}

export async function importServerRecord(input: Input, text: string): Promise<Answer> {
  const document = parseServerJson(text);
  const { name = shortServerName(document.name), visibility, dryRun } = input.options;
  if (dryRun === true) {
    return {
      data: { name: `mcp:${String(name)}`, server_json: document },
      text: `${document.name} would be mcp:${String(name)}`,
    };
  }
  const registered = await callDaemon<{ name: string; version: string; changed: boolean }>(
    await reachDaemon(input),
    "POST",
    "/api/server-records",
    {
      text,
      ...(input.options["name"] === undefined ? {} : { name }),
      ...(visibility === undefined ? {} : { visibility }),
    },
  );
  const { name: made, version, changed } = registered;
  return {
    data: registered,
    text: changed ? `${made} has version ${version}` : `${made} had version ${version} already`,
    notes: [`Look at it: pml lookup ${made}@v${version}`],
  };
}

/** As it was registered, byte for byte. */
export async function exportServerRecord(input: Input, name: string): Promise<{ text: string; document: unknown }> {
  const path = `/api/server-records/${encodeURIComponent(name)}`;
  return callDaemon(await reachDaemon(input), "GET", path);
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // said by whoever reads it next
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // no server.json then
  }
}
