import { join } from "node:path";
import type { McpServerEntry } from "../../config/schema.ts";
import { secretValues } from "../../config/secrets.ts";
import { LogFile } from "../../base/log-file.ts";
import { redact } from "../../base/log.ts";

/** The stderr output of a server. */
export interface ServerOutput {
  /** Removes the secrets that the server was given. */
  clean(text: string): string;
  /** Writes cleaned lines of stderr. */
  write(lines: readonly string[]): void;
}

/** Enough to find the cause of an exit; a verbose server must not displace the others. */
const LARGEST_LOG_BYTES = 2 * 1024 * 1024;
/** Shorter secrets would redact parts of ordinary words. */
const SHORTEST_SECRET = 6;

export function serverLogFolder(home: string): string {
  return join(home, "logs");
}

interface OutputOf {
  readonly name: string;
  readonly entry: McpServerEntry;
  /** Hides what else the gateway knows. */
  readonly hide?: (text: string) => string;
}

/** Writes lines to a file per server, in the format of the daemon's log. */
export function createServerOutput(folder: string, { name, entry, hide = (text) => text }: OutputOf): ServerOutput {
  const file = new LogFile(join(folder, `${name}.log`), LARGEST_LOG_BYTES);
  const secrets = secretValues(entry).filter(({ length }) => length >= SHORTEST_SECRET);
  return {
    clean: (text) => redact(hide(text), secrets),
    write(lines) {
      const time = new Date().toISOString();
      const line = (msg: string): string => `${JSON.stringify({ level: "info", time, server: name, msg })}\n`;
      file.write(lines.map(line).join(""));
    },
  };
}
