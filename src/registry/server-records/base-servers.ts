import { findManifest, fromManifest } from "./package-manifest.ts";
import { SERVER_JSON_SCHEMA, type ServerJson } from "./server-json.ts";

export interface BaseServer {
  readonly name: string;
  readonly document: ServerJson;
}

/** Servers whose records ship with PML, by their usual names. */
export function baseServers(): BaseServer[] {
  return [
    { name: "filesystem", document: bundledFilesystem() },
    {
      name: "shell",
      document: {
        $schema: SERVER_JSON_SCHEMA,
        name: "io.github.g0t4/mcp-server-commands",
        title: "Shell",
        description: "Runs commands and scripts on this machine",
        version: "0.5.0",
        repository: { url: "https://github.com/g0t4/mcp-server-commands", source: "github" },
        packages: [npmPackage("mcp-server-commands", "0.5.0")],
      },
    },
    {
      name: "sqlite",
      document: {
        $schema: SERVER_JSON_SCHEMA,
        name: "io.github.jparkerweb/mcp-sqlite",
        title: "SQLite",
        description: "Reads and writes SQLite databases",
        version: "1.0.9",
        repository: { url: "https://github.com/jparkerweb/mcp-sqlite", source: "github" },
        packages: [
          {
            ...npmPackage("mcp-sqlite", "1.0.9"),
            packageArguments: [{ type: "positional", valueHint: "database", format: "filepath", isRequired: true }],
          },
        ],
      },
    },
  ];
}

/** The filesystem server ships with PML, so its record carries the installed version. */
function bundledFilesystem(): ServerJson {
  const manifest = findManifest(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));
  if (manifest === undefined) throw new Error("the filesystem server that ships with PML has no package.json");
  const document = fromManifest(manifest);
  const [first] = document.packages ?? [];
  if (first === undefined) throw new Error("a manifest always names its package");
  const folders = {
    type: "positional",
    valueHint: "folder",
    format: "filepath",
    isRequired: true,
    isRepeated: true,
  } as const;
  return { ...document, title: "Filesystem", packages: [{ ...first, packageArguments: [folders] }] };
}

function npmPackage(identifier: string, version: string): NonNullable<ServerJson["packages"]>[number] {
  return { registryType: "npm", identifier, version, runtimeHint: "npx", transport: { type: "stdio" } };
}
