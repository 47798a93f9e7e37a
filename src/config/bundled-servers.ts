import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { McpServerEntry } from "./schema.ts";

/**
 * The servers that ship with PML, so that a first start without configuration has something to call. They only access
 * their own folder below PML_HOME, and their hints are believed.
 */
export function bundledServers(home: string): Record<string, McpServerEntry> {
  const scratch = join(home, "scratch");
  const memory = join(home, "memory.jsonl");
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  closeSync(openSync(memory, "a", 0o600)); // the server itself would let every user read it
  const pml = { trustHints: true };
  return {
    filesystem: { command: process.execPath, args: [script("server-filesystem"), scratch], pml },
    memory: {
      command: process.execPath,
      args: [script("server-memory")],
      env: { MEMORY_FILE_PATH: memory },
      pml,
    },
  };
}

function script(name: string): string {
  return fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`));
}
