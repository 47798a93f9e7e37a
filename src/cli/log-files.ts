import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { olderLog } from "../base/log-file.ts";
import { type LogEntry, parseLines } from "./log-entries.ts";

/** A log file: the stderr of a server, or the daemon's. */
interface Source {
  readonly path: string;
  readonly server: string | undefined;
}

export interface LogPlaces {
  /** The daemon's files: its log, and its output outside of the log. */
  readonly daemon: readonly string[];
  /** The folder of the servers' files. */
  readonly folder: string;
  readonly secrets: readonly string[];
}

/** The position in each file up to which it was read. */
type Positions = Map<string, number>;

/** Reads all entries by time, and the positions to continue from. */
export function readLogs(places: LogPlaces): { entries: LogEntry[]; positions: Positions } {
  const positions: Positions = new Map();
  const entries = listSources(places).flatMap(({ path, server }) => {
    const text = readText(path);
    positions.set(path, Buffer.byteLength(text));
    return parseLines(readText(olderLog(path)) + text, server, places.secrets);
  });
  return { entries: inOrder(entries), positions };
}

/** Lists the servers that have a file. */
export function listLoggedServers({ folder }: LogPlaces): string[] {
  return listNames(folder)
    .filter((name) => name.endsWith(".log"))
    .map((name) => basename(name, ".log"));
}

const LOOK_EVERY_MS = 200;

export interface FollowOptions {
  readonly positions: Positions;
  readonly signal: AbortSignal;
}

/** Yields entries added after the positions until the signal aborts; new files are found as well. */
export async function* followLogs(
  places: LogPlaces,
  { positions, signal }: FollowOptions,
): AsyncGenerator<LogEntry[], void, undefined> {
  while (!signal.aborted) {
    const added = listSources(places).flatMap(({ path, server }) =>
      parseLines(readAdded(path, positions), server, places.secrets),
    );
    if (added.length > 0) yield inOrder(added);
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Reads whole lines after the position. A rotated file continues in its older copy. */
function readAdded(path: string, positions: Positions): string {
  const from = positions.get(path) ?? 0;
  const size = sizeOf(path);
  const missed = size < from ? readFrom(olderLog(path), from) : "";
  const start = size < from ? 0 : from;
  const text = readFrom(path, start);
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  positions.set(path, start + Buffer.byteLength(whole));
  return missed + whole;
}

function listSources({ daemon, folder }: LogPlaces): Source[] {
  const files = listNames(folder).filter((name) => name.endsWith(".log"));
  return [
    ...daemon.map((path) => ({ path, server: undefined })),
    ...files.map((name) => ({ path: join(folder, name), server: basename(name, ".log") })),
  ];
}

function inOrder(entries: readonly LogEntry[]): LogEntry[] {
  return entries.toSorted((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return []; // no server has said anything yet
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // not there yet
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readFrom(path: string, start: number): string {
  const length = sizeOf(path) - start;
  if (length <= 0) return "";
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, length, start));
  } finally {
    closeSync(file);
  }
}
