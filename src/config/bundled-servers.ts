import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { McpServerEntry } from "./schema.ts";

/**
 * The servers that ship with PML, so that a first start without configuration has something to call. They only access
 * their own folder below PML_HOME, and their hints are believed.
 */
export function bundledServers(home: string): Record<string, McpServerEntry> {
  const scratch = join(home, "scratch");
  mkdirSync(scratch, { recursive: true });
  const pml = { trustHints: true };
  return {
    filesystem: { command: process.execPath, args: [script("server-filesystem"), scratch], pml },
    memory: {
      command: process.execPath,
      args: [script("server-memory")],
      env: { MEMORY_FILE_PATH: join(home, "memory.jsonl") },
      pml,
    },
  };
}

function script(name: string): string {
  return fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`));
}
