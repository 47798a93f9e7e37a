import { readFileSync } from "node:fs";
import type { Visibility } from "../registry/record-words.ts";
import type { Answered } from "../contract/route.ts";
import { routes } from "../contract/routes.ts";
import { callDaemon } from "../daemon/daemon-client.ts";
import { fromManifest, parseManifest } from "../registry/server-records/package-manifest.ts";
import { parseServerJson, shortServerName } from "../registry/server-records/server-json.ts";
import { reachAsPerson } from "./as-person.ts";
import type { Answer, Input } from "./command.ts";
import { reachDaemon } from "./daemon-access.ts";

/** Reads a `server.json`, or makes one of the package.json of a server; undefined for any other file. */
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
  const registered = await callDaemon(await reachAsPerson(input), routes.registerServer, {
    body: {
      text,
      ...(input.options["name"] === undefined ? {} : { name: String(name) }),
      // the daemon refuses a word that is none, and names those that are
      ...(visibility === undefined ? {} : { visibility: visibility as Visibility }),
    },
  });
  const { name: made, version, changed } = registered;
  return {
    data: registered,
    text: changed ? `${made} has version ${version}` : `${made} had version ${version} already`,
    notes: [`Look at it: pml lookup ${made}@v${version}`],
  };
}

/** Gets the `server.json` as it was registered, byte for byte. */
export async function exportServerRecord(input: Input, name: string): Promise<Answered<typeof routes.exportServer>> {
  return callDaemon(await reachDaemon(input), routes.exportServer, { params: { name } });
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // the next reader reports it
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // no server.json then
  }
}
