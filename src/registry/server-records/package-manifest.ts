import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { PmlError } from "../../base/errors.ts";
import { SERVER_JSON_SCHEMA, type ServerJson } from "./server-json.ts";

const manifestSchema = z.looseObject({
  name: z.string().min(1),
  version: z.string().min(1),
  description: z.string().optional(),
  mcpName: z.string().optional(),
  homepage: z.string().optional(),
  repository: z.union([z.string(), z.looseObject({ url: z.string(), directory: z.string().optional() })]).optional(),
});

/** The part of a `package.json` that describes an MCP server; `mcpName` is its name in the official registry. */
export type Manifest = z.infer<typeof manifestSchema>;

export function parseManifest(text: string): Manifest | undefined {
  try {
    return manifestSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON, so not a manifest
  }
}

/** Finds the `package.json` that a script belongs to. */
export function findManifest(script: string): Manifest | undefined {
  const path = script.startsWith("file:") ? fileURLToPath(script) : script;
  if (!existsSync(path)) return undefined;
  for (let folder = dirname(realpathSync(path)); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    const manifest = existsSync(file) ? parseManifest(readFileSync(file, "utf8")) : undefined;
    if (manifest !== undefined) return manifest;
    if (dirname(folder) === folder) return undefined;
  }
}

const LONGEST_DESCRIPTION = 100;

/** Builds a `server.json` from a package. Requires `mcpName`: without it the package claims no registry name. */
export function fromManifest(manifest: Manifest): ServerJson {
  const { name, version, description, mcpName } = manifest;
  if (mcpName === undefined) {
    throw new PmlError("server_json_invalid", `The package ${name} has no "mcpName", so it names no MCP server`, {
      hint: "Import its server.json instead",
    });
  }
  const repository = readRepository(manifest);
  return {
    $schema: SERVER_JSON_SCHEMA,
    name: mcpName,
    description: shorten(description ?? `MCP server of the package ${name}`),
    version,
    ...(repository === undefined ? {} : { repository }),
    packages: [{ registryType: "npm", identifier: name, version, runtimeHint: "npx", transport: { type: "stdio" } }],
  };
}

export function shorten(text: string): string {
  const line = text.split("\n")[0]?.trim() || "MCP server";
  return line.length <= LONGEST_DESCRIPTION ? line : `${line.slice(0, LONGEST_DESCRIPTION - 1)}…`;
}

function readRepository({ repository }: Manifest): ServerJson["repository"] {
  const url = (typeof repository === "string" ? repository : repository?.url)
    ?.replace(/^git\+/, "")
    .replace(/\.git$/, "");
  if (url === undefined || !URL.canParse(url) || !url.startsWith("https://")) return undefined;
  const { hostname } = new URL(url);
  const subfolder = typeof repository === "object" ? repository.directory : undefined;
  const source = hostname === "github.com" ? "github" : hostname === "gitlab.com" ? "gitlab" : hostname;
  return { url, source, ...(subfolder === undefined ? {} : { subfolder }) };
}
