import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { PmlError } from "../base/errors.ts";
import { findCommand } from "../base/find-command.ts";
import { resolveLink } from "../base/replace-file.ts";
import type { Client } from "./client-table.ts";
import { FORMATS } from "./formats.ts";
import { commandLine, type Launch, startsPml } from "./launch.ts";
import type { Places } from "./places.ts";
import { isTable } from "./read-servers.ts";

/** A client's configuration file and what it holds. */
export interface ClientFile {
  readonly client: Client;
  /** As the client knows it; it may be a link. */
  readonly path: string;
  /** What a link points to, or the path itself. */
  readonly real: string;
  /** undefined: it is not there. */
  readonly text: string | undefined;
}

/** How a client is connected to PML, if it is. */
export interface Connection {
  readonly client: Client;
  readonly path: string;
  /** connected: as it should be; broken: what it starts is not there; other: it starts another PML or PML_HOME. */
  readonly state: "connected" | "broken" | "other" | "absent" | "no-client" | "unreadable";
  readonly name?: string;
  /** What is wrong. */
  readonly problem?: string;
}

export function findClientFile(client: Client, places: Places, scope: "user" | "project"): string {
  const candidates: readonly string[] =
    scope === "user" ? client.user(places) : client.project.map((name) => join(places.project, name));
  const [first] = candidates;
  if (first === undefined)
    throw new PmlError("usage", `${client.title} has no configuration for a single project`, {
      hint: `Leave --project out: pml connect ${client.id}`,
    });
  return candidates.find((path) => existsSync(path)) ?? first;
}

/** Reads a client's file and makes sure that it could be written. */
export function openClientFile(client: Client, path: string): ClientFile {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) return { client, path, real: path, text: undefined };
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw unusable(path, "it is a link to a file that does not exist", `Remove the link: rm ${path}`);
  if (!stats.isFile()) throw unusable(path, "it is not a file", undefined);
  const real = resolveLink(path);
  // Also for root, whom the system would let write it: somebody does not want it to change.
  if ((stats.mode & 0o200) === 0) throw unusable(path, "it is read-only", `Allow it: chmod u+w ${real}`);
  return { client, path, real, text: readFileSync(real, "utf8") };
}

/** Whether the client is used here; where it is not, its file is only made when that is forced. */
export function isClientHere(client: Client, places: Places): boolean {
  return [...client.user(places), ...client.signs(places)].some((path) => existsSync(path));
}

/** The servers of a client's file. */
export function readEntries({ client, path, text }: ClientFile): Readonly<Record<string, unknown>> {
  try {
    const servers = FORMATS[client.format].read(text ?? "")[client.key[0]];
    return isTable(servers) ? servers : {};
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw unusable(path, reason, "Correct it, or take it away and let PML make a new one", cause);
  }
}

/** The file's text with PML's entry in it; the same text when it is there already. */
export function addPml(file: ClientFile, name: string, launch: Launch): string {
  const present = readEntries(file)[name];
  const wanted = mergeEntry(present, file.client.entry(launch));
  return isDeepStrictEqual(present, wanted) ? (file.text ?? "") : edit(file, name, wanted);
}

export function removePml(file: ClientFile, name: string): string {
  return edit(file, name, undefined);
}

/** What the user added to our entry stays: time limits, approvals, variables. */
function mergeEntry(present: unknown, wanted: Record<string, unknown>): Record<string, unknown> {
  if (!isTable(present)) return wanted;
  const merged = Object.entries(wanted).map(([key, value]) => {
    const before = present[key];
    return [key, isTable(value) && isTable(before) ? { ...before, ...value } : value];
  });
  return { ...present, ...Object.fromEntries(merged) };
}

function edit(file: ClientFile, name: string, entry: Record<string, unknown> | undefined): string {
  const { client, path, text = "" } = file;
  const format = FORMATS[client.format];
  const place = [client.key[0], name] as const;
  try {
    return format.edit(text, place, entry);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const byHand =
      entry === undefined ? `Take "${name}" out by hand` : `Add this by hand:\n${format.print(place, entry)}`;
    throw unusable(path, reason, byHand, cause);
  }
}

/** How the client stands to this PML. */
export function describeConnection(
  client: Client,
  places: Places,
  { launch, scope }: { readonly launch: Launch; readonly scope: "user" | "project" },
): Connection {
  const path = findClientFile(client, places, scope);
  if (scope === "user" && !isClientHere(client, places)) return { client, path, state: "no-client" };
  try {
    const text = existsSync(path) ? readFileSync(path, "utf8") : undefined;
    const entries = readEntries({ client, path, real: path, text });
    const [name, entry] = Object.entries(entries).find(([, each]) => startsPml(each)) ?? [];
    if (name === undefined) return { client, path, state: "absent" };
    return { client, path, name, ...compareEntry(entry, launch, places.env["PATH"] ?? "") };
  } catch (error) {
    return { client, path, state: "unreadable", problem: error instanceof Error ? error.message : String(error) };
  }
}

function compareEntry(entry: unknown, launch: Launch, path: string): Pick<Connection, "state" | "problem"> {
  const words = commandLine(entry);
  const [command = ""] = words;
  const missing = words.find((word) => isAbsolute(word) && !existsSync(word));
  if (missing !== undefined) return { state: "broken", problem: `it starts ${missing}, which does not exist` };
  if (!isAbsolute(command) && findCommand(command, path) === undefined)
    return { state: "broken", problem: `it starts ${command}, which is not in the PATH` };
  const { env, environment } = entry as { env?: unknown; environment?: unknown };
  const home = [env, environment].filter(isTable).map((table) => table["PML_HOME"])[0];
  if (home !== launch.env["PML_HOME"])
    return { state: "other", problem: `it uses another PML_HOME (${typeof home === "string" ? home : "the default"})` };
  // Found in the PATH, it is whichever PML is installed.
  if (isAbsolute(command) && !isDeepStrictEqual(words, [launch.command, ...launch.args]))
    return { state: "other", problem: `it starts another PML: ${words.join(" ")}` };
  return { state: "connected" };
}

function unusable(path: string, reason: string, hint: string | undefined, cause?: unknown): PmlError {
  return new PmlError("client_config_unusable", `${path} cannot be used: ${reason}. Nothing was changed`, {
    ...(hint === undefined ? {} : { hint }),
    details: { path, folder: dirname(path) },
    cause,
  });
}
