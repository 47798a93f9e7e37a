import { redact } from "../base/log.ts";
import { LEVELS, type Level } from "./log-levels.ts";

/** An entry of a log. */
export interface LogEntry {
  readonly time: string;
  /** stderr for the output of a server; undefined for other text, such as that of a crash. */
  readonly level: Level | "stderr" | undefined;
  /** The server it is about, or pml. */
  readonly source: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LogFilter {
  readonly server: string | undefined;
  readonly level: Level | undefined;
  /** Milliseconds since 1970. */
  readonly since: number | undefined;
}

/** Reads the entries of one file in order. An entry without a time gets that of the one before. */
export function parseLines(text: string, server: string | undefined, secrets: readonly string[]): LogEntry[] {
  let time = new Date(0).toISOString();
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const entry = parseLine(redact(line, secrets), server, time);
      ({ time } = entry);
      return entry;
    });
}

function parseLine(line: string, server: string | undefined, time: string): LogEntry {
  const { level, time: own, msg, server: about, ...fields } = parseJson(line);
  if (typeof own !== "string") return { time, level: undefined, source: server ?? "pml", message: line, fields: {} };
  const source = server ?? (typeof about === "string" ? about : "pml");
  const known = LEVELS.find((each) => each === level);
  return {
    time: own,
    level: server === undefined ? known : "stderr",
    source,
    message: typeof msg === "string" ? msg : "",
    fields,
  };
}

function parseJson(line: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Shows text without a level at every level: it comes from a crash. */
export function matches({ level, source, time }: LogEntry, filter: LogFilter): boolean {
  if (filter.server !== undefined && source !== filter.server) return false;
  if (filter.since !== undefined && Date.parse(time) < filter.since) return false;
  if (filter.level === undefined || level === undefined) return true;
  return LEVELS.indexOf(level === "stderr" ? "info" : level) >= LEVELS.indexOf(filter.level);
}

/** `message key=value …` */
export function describeEntry({ message, fields }: LogEntry): string {
  const pairs = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [message, ...pairs].join(" ");
}
