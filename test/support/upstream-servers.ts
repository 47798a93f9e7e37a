import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { McpServerEntry } from "../../src/config/schema.ts";

function script(name: string): string {
  return fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`));
}

/** Real servers from npm, as entries of a configuration. */
export const servers = {
  everything: { command: process.execPath, args: [script("server-everything")] },
  filesystem: (folder: string): McpServerEntry => ({
    command: process.execPath,
    args: [script("server-filesystem"), folder],
  }),
  /** See there for its flags. */
  chaos: (label: string, ...flags: readonly string[]): McpServerEntry => ({
    command: process.execPath,
    args: [join(import.meta.dirname, "chaos-server.ts"), `--label=${label}`, ...flags],
  }),
  /** Shows what reaches it. */
  mirror: (...options: "--legacy"[]): McpServerEntry => ({
    command: process.execPath,
    args: [join(import.meta.dirname, "mirror-server.ts"), ...options],
  }),
  memory: (folder: string): McpServerEntry => ({
    command: process.execPath,
    args: [script("server-memory")],
    env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
  }),
  /** Our own, which has a tool for everything that can come from a server; it speaks both eras unless told not to. */
  fixture: (...options: "--legacy"[]): McpServerEntry => ({
    command: process.execPath,
    args: [join(import.meta.dirname, "..", "conformance", "fixture-server.ts"), ...options],
  }),
};

export function writeConfig(home: string, config: Record<string, unknown>): void {
  writeFileSync(join(home, "pml.json"), JSON.stringify(config));
}

/** The same server, which does not start while a file is there. */
export function unlessMarked({ command, args }: { command: string; args: string[] }, marker: string): McpServerEntry {
  const words = [command, ...args].map((word) => `'${word}'`).join(" ");
  return { command: "/bin/sh", args: ["-c", `test -e '${marker}' && exit 3; exec ${words}`] };
}
