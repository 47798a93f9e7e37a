import { type Logger as PinoLogger, destination, pino } from "pino";
import { LogFile } from "./log-file.ts";

export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error">;

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "silent";
  readonly file: string | undefined;
  /** Writes to stderr too; without a file it is the only target. */
  readonly stderr?: boolean;
  /** Values that are redacted in every field. */
  readonly secrets: readonly string[];
  /** Takes further secrets out of each line, as they become known. */
  readonly clean?: (line: string) => string;
}

const STDERR = 2;
const HIDDEN = "[redacted]";
const LARGEST_LOG_BYTES = 10 * 1024 * 1024;

/** Logs one JSON object per line, to stderr, a file or both; stdout belongs to the protocol. */
export function createLogger(options: LogOptions): Logger {
  const { level, file: path, stderr = path === undefined, secrets, clean = (line) => line } = options;
  const file = path === undefined ? undefined : new LogFile(path, LARGEST_LOG_BYTES);
  const screen = stderr ? destination({ dest: STDERR, sync: true }) : undefined;
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: (line) => redact(clean(line), secrets) },
    },
    {
      // Synchronous, so that the last lines before a crash are written.
      write(line: string) {
        file?.write(line);
        screen?.write(line);
      },
    },
  );
}

const SECRET_FIELD =
  /("[^"]{0,100}(?:password|secret|token|api_?key|authorization|cookie)[^"]{0,100}":\s{0,9})"(?:[^"\\]|\\.)*"/gi;
const URL_PASSWORD = /((?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@"]{0,256}:)[^\s@"]{1,1024}@/gi;
const BEARER = /\b(bearer\s+)[a-z0-9._~+/-]+=*/gi;

export function redact(text: string, secrets: readonly string[]): string {
  const withoutKnown = secrets.reduce((line, secret) => (secret ? line.replaceAll(secret, HIDDEN) : line), text);
  return withoutKnown
    .replace(SECRET_FIELD, `$1"${HIDDEN}"`)
    .replace(URL_PASSWORD, `$1${HIDDEN}@`)
    .replace(BEARER, `$1${HIDDEN}`);
}
