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
  /** See chaos-server.ts for its flags. */
  chaos: (label: string, ...flags: readonly string[]): McpServerEntry => ({
    command: process.execPath,
    args: [join(import.meta.dirname, "chaos-server.ts"), `--label=${label}`, ...flags],
  }),
  /** Logs every call to a file; see counting-server.ts for its tools. */
  counting: (file: string): McpServerEntry => ({
    command: process.execPath,
    args: [join(import.meta.dirname, "counting-server.ts"), `--file=${file}`],
  }),
  /** Answers from the file. */
  scripted: (file: string): McpServerEntry => ({
    command: process.execPath,
    args: [join(import.meta.dirname, "scripted-server.ts"), file],
  }),
  /** Returns the parts of a request that reach it. */
  mirror: (...options: "--legacy"[]): McpServerEntry => ({
    command: process.execPath,
    args: [join(import.meta.dirname, "mirror-server.ts"), ...options],
  }),
  /** Has long results, and with --tools=60 a long list. */
  large: (...flags: readonly string[]): McpServerEntry => ({
    command: process.execPath,
    args: [join(import.meta.dirname, "large-server.ts"), ...flags],
  }),
  memory: (folder: string): McpServerEntry => ({
    command: process.execPath,
    args: [script("server-memory")],
    env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
  }),
  /** The conformance fixture, with a tool for every feature of a server; it speaks both eras unless told otherwise. */
  fixture: (...options: "--legacy"[]): McpServerEntry => ({
    command: process.execPath,
    args: [join(import.meta.dirname, "..", "conformance", "fixture-server.ts"), ...options],
  }),
};

export function writeConfig(home: string, config: Record<string, unknown>): void {
  writeFileSync(join(home, "pml.json"), JSON.stringify(config));
}

/** Wraps a server so that it does not start while a file exists. */
export function unlessMarked({ command, args }: { command: string; args: string[] }, marker: string): McpServerEntry {
  const words = [command, ...args].map((word) => `'${word}'`).join(" ");
  return { command: "/bin/sh", args: ["-c", `test -e '${marker}' && exit 3; exec ${words}`] };
}
