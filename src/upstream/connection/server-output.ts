import { join } from "node:path";
import type { McpServerEntry } from "../../config/schema.ts";
import { findSecrets } from "../../config/secrets.ts";
import { LogFile } from "../../base/log-file.ts";
import { redact } from "../../base/log.ts";

/** What a server says beside the protocol. */
export interface ServerOutput {
  /** The text without the secrets that the server was given. */
  clean(text: string): string;
  /** Keeps lines of stderr, cleaned before. */
  write(lines: readonly string[]): void;
}

/** Enough to see what led to an end; a server that talks a lot must not push out the others. */
const LARGEST_LOG_BYTES = 2 * 1024 * 1024;
/** Shorter values would take words out of every line. */
const SHORTEST_SECRET = 6;

export function serverLogFolder(home: string): string {
  return join(home, "logs");
}

/** Lines go to a file of the server's own, in the form of the daemon's log. */
export function createServerOutput(folder: string, name: string, entry: McpServerEntry): ServerOutput {
  const file = new LogFile(join(folder, `${name}.log`), LARGEST_LOG_BYTES);
  const secrets = findSecrets(entry)
    .map(({ value }) => value)
    .filter(({ length }) => length >= SHORTEST_SECRET);
  return {
    clean: (text) => redact(text, secrets),
    write(lines) {
      const time = new Date().toISOString();
      const line = (msg: string): string => `${JSON.stringify({ level: "info", time, server: name, msg })}\n`;
      file.write(lines.map(line).join(""));
    },
  };
}
