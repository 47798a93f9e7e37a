import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { McpServerEntry } from "../../src/config/schema.ts";

function script(name: string): string {
  return fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`));
}

/** Settings of a server whose hints a person believes, so that its reading tools run unasked. */
const pml = { trustHints: true };

function own(name: string, ...args: readonly string[]): McpServerEntry {
  return { command: process.execPath, args: [join(import.meta.dirname, name), ...args], pml };
}

/** Real servers from npm and of the tests, as entries of a configuration. Their hints are believed. */
export const servers = {
  everything: { command: process.execPath, args: [script("server-everything")], pml },
  filesystem: (folder: string): McpServerEntry => ({
    command: process.execPath,
    args: [script("server-filesystem"), folder],
    pml,
  }),
  /** See chaos-server.ts for its flags. */
  chaos: (label: string, ...flags: readonly string[]): McpServerEntry =>
    own("chaos-server.ts", `--label=${label}`, ...flags),
  /** Logs every call to a file; see counting-server.ts for its tools. */
  counting: (file: string): McpServerEntry => own("counting-server.ts", `--file=${file}`),
  /** Answers from the file. */
  scripted: (file: string): McpServerEntry => own("scripted-server.ts", file),
  /** Returns the parts of a request that reach it. */
  mirror: (...options: "--legacy"[]): McpServerEntry => own("mirror-server.ts", ...options),
  /** Has long results, and with --tools=60 a long list. */
  large: (...flags: readonly string[]): McpServerEntry => own("large-server.ts", ...flags),
  memory: (folder: string): McpServerEntry => ({
    command: process.execPath,
    args: [script("server-memory")],
    env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    pml,
  }),
  /** The conformance fixture, with a tool for every feature of a server; it speaks both eras unless told otherwise. */
  fixture: (...options: "--legacy"[]): McpServerEntry =>
    own(join("..", "conformance", "fixture-server.ts"), ...options),
};

/** The same server, whose hints nobody believes yet. */
export function unbelieved({ pml: { trustHints: _belief, ...others } = {}, ...entry }: McpServerEntry): McpServerEntry {
  return { ...entry, pml: others };
}

export function writeConfig(home: string, config: Record<string, unknown>): void {
  writeFileSync(join(home, "pml.json"), JSON.stringify(config));
}

/** Wraps a server so that it does not start while a file exists. */
export function unlessMarked({ command, args }: { command: string; args: string[] }, marker: string): McpServerEntry {
  const words = [command, ...args].map((word) => `'${word}'`).join(" ");
  return { command: "/bin/sh", args: ["-c", `test -e '${marker}' && exit 3; exec ${words}`] };
}
