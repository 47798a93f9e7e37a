import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { environment, resolveHome } from "../config/environment.ts";
import { loadConfig } from "../config/load-config.ts";
import { allServers } from "../config/project-config.ts";
import { daemonLogFile } from "../daemon/daemon-file.ts";
import { PmlError } from "../base/errors.ts";
import { serverLogFolder } from "../upstream/connection/server-output.ts";
import type { Input, OptionValues } from "./command.ts";
import { describeEntry, type LogEntry, type LogFilter, matches } from "./log-entries.ts";
import { followLogs, listLoggedServers, type LogPlaces, readLogs } from "./log-files.ts";
import { LEVELS } from "./log-levels.ts";
import type { Terminal } from "./terminal.ts";

/** Prints the last matching lines and, with --follow, new ones. */
export async function showLogs(input: Input, count: number): Promise<void> {
  const { options, terminal } = input;
  const places = findLogs(options);
  const filter = readFilter(input);
  const { entries, positions } = readLogs(places);
  const fitting = entries.filter((entry) => matches(entry, filter));
  if (fitting.length === 0) sayNothing(filter, places, terminal);
  print(fitting.slice(Math.max(0, fitting.length - count)), terminal);
  if (options["follow"] !== true) return;
  const end = new AbortController();
  process.stdout.once("error", () => end.abort()); // nobody reads any more
  for await (const added of followLogs(places, { positions, signal: end.signal }))
    print(
      added.filter((entry) => matches(entry, filter)),
      terminal,
    );
}

/** Falls back to defaults for a broken configuration: the log may be what explains it. */
function findLogs(options: OptionValues): LogPlaces {
  const home = resolveHome();
  const own = daemonLogFile(home);
  const places = { folder: serverLogFolder(home), secrets: readToken(home) };
  try {
    const { file } = loadConfig(options, environment).log;
    return { ...places, daemon: file === undefined ? [own] : [own, resolve(home, file)] };
  } catch {
    return { ...places, daemon: [own] };
  }
}

function readToken(home: string): string[] {
  try {
    return [readFileSync(join(home, "token"), "utf8").trim()];
  } catch {
    return []; // no daemon has run here
  }
}

function readFilter({ args: [server], options }: Input): LogFilter {
  const { since, level } = options;
  return {
    server,
    since: typeof since === "number" ? since : undefined,
    level: LEVELS.find((each) => each === level),
  };
}

function sayNothing({ server }: LogFilter, places: LogPlaces, terminal: Terminal): void {
  const known = listLoggedServers(places);
  if (server !== undefined && !known.includes(server) && !isConfigured(server))
    throw new PmlError("server_not_found", `Nothing is logged about a server "${server}"`, {
      hint: known.length === 0 ? "The configured ones: pml servers" : `There are logs of: ${known.join(", ")}`,
    });
  if (!terminal.options.quiet) terminal.say(`Nothing logged that fits, in ${places.daemon.join(", ")}`);
}

function isConfigured(server: string): boolean {
  try {
    return Object.hasOwn(allServers(loadConfig({}, environment)), server);
  } catch {
    return false;
  }
}

function print(entries: readonly LogEntry[], terminal: Terminal): void {
  const format = terminal.options.json ? formatJson : process.stdout.isTTY ? formatForPeople : formatPlain;
  if (entries.length > 0) terminal.print(entries.map((entry) => format(entry, terminal)).join("\n"));
}

function formatJson({ time, level, source, message, fields }: LogEntry): string {
  return JSON.stringify({ time, level, source, message, ...(Object.keys(fields).length === 0 ? {} : { fields }) });
}

function formatPlain(entry: LogEntry): string {
  return [entry.time, entry.level ?? "", entry.source, describeEntry(entry)].join("\t");
}

const LEVEL_WIDTH = 6;

function formatForPeople(entry: LogEntry, { colors }: Terminal): string {
  const { level, source } = entry;
  const paint = { error: colors.red, warn: colors.yellow, debug: colors.dim, info: String, stderr: colors.dim };
  const time = new Date(entry.time).toLocaleTimeString("en-GB", { fractionalSecondDigits: 3 });
  const label = (level ?? "").padEnd(LEVEL_WIDTH);
  return `${colors.dim(time)} ${level === undefined ? label : paint[level](label)} ${colors.cyan(source)}  ${describeEntry(entry)}`;
}
