import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { PmlError } from "../base/errors.ts";
import { findCommand } from "../base/find-command.ts";
import { resolveLink } from "../base/replace-file.ts";
import type { Client } from "./client-table.ts";
import { FORMATS } from "./formats.ts";
import { commandLine, type PmlLaunch, startsPml } from "./launch.ts";
import type { ConfigFolders } from "./config-folders.ts";
import { isTable } from "./read-servers.ts";

/** A client's configuration file and its content. */
export interface ClientFile {
  readonly client: Client;
  /** The path the client uses; it may be a link. */
  readonly path: string;
  /** The target of a link, or the path itself. */
  readonly real: string;
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
}

/** The state of a client's connection to PML. */
export interface ClientConnection {
  readonly client: Client;
  readonly path: string;
  /** connected: valid; broken: its command does not exist; other: it starts another PML or PML_HOME. */
  readonly state: "connected" | "broken" | "other" | "absent" | "no-client" | "unreadable";
  readonly name?: string;
  /** The problem, for people. */
  readonly problem?: string;
}

export function findClientFile(client: Client, folders: ConfigFolders, scope: "user" | "project"): string {
  const candidates: readonly string[] =
    scope === "user" ? client.user(folders) : client.project.map((name) => join(folders.project, name));
  const [first] = candidates;
  if (first === undefined)
    throw new PmlError("usage", `${client.title} has no configuration for a single project`, {
      hint: `Leave --project out: pml connect ${client.id}`,
    });
  return candidates.find((path) => existsSync(path)) ?? first;
}

/** Reads a client's file and checks that it can be written. */
export function openClientFile(client: Client, path: string): ClientFile {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) return { client, path, real: path, text: undefined };
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw unusable(path, "it is a link to a file that does not exist", `Remove the link: rm ${path}`);
  if (!stats.isFile()) throw unusable(path, "it is not a file", undefined);
  const real = resolveLink(path);
  // Refuses for root too, who could write it: somebody does not want it to change.
  if ((stats.mode & 0o200) === 0) throw unusable(path, "it is read-only", `Allow it: chmod u+w ${real}`);
  return { client, path, real, text: readFileSync(real, "utf8") };
}

/** True if the client is used here; otherwise its file is only created with --force. */
export function isClientHere(client: Client, folders: ConfigFolders): boolean {
  return [...client.user(folders), ...client.signs(folders)].some((path) => existsSync(path));
}

/** Reads the servers of a client's file. */
export function readEntries({ client, path, text }: ClientFile): Readonly<Record<string, unknown>> {
  try {
    const servers = FORMATS[client.format].read(text ?? "")[client.key[0]];
    return isTable(servers) ? servers : {};
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw unusable(path, reason, "Correct it, or take it away and let PML make a new one", cause);
  }
}

/** Returns the file's text with PML's entry in it; unchanged if it is already there. */
export function addPml(file: ClientFile, name: string, launch: PmlLaunch): string {
  const present = readEntries(file)[name];
  const wanted = mergeEntry(present, file.client.entry(launch));
  return isDeepStrictEqual(present, wanted) ? (file.text ?? "") : edit(file, name, wanted);
}

export function removePml(file: ClientFile, name: string): string {
  return edit(file, name, undefined);
}

/** Keeps the user's additions to our entry: timeouts, approvals, variables. */
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

/** Compares the client's entry with this PML. */
export function describeConnection(
  client: Client,
  folders: ConfigFolders,
  { launch, scope }: { readonly launch: PmlLaunch; readonly scope: "user" | "project" },
): ClientConnection {
  const path = findClientFile(client, folders, scope);
  if (scope === "user" && !isClientHere(client, folders)) return { client, path, state: "no-client" };
  try {
    const text = existsSync(path) ? readFileSync(path, "utf8") : undefined;
    const entries = readEntries({ client, path, real: path, text });
    const [name, entry] = Object.entries(entries).find(([, each]) => startsPml(each)) ?? [];
    if (name === undefined) return { client, path, state: "absent" };
    return { client, path, name, ...compareEntry(entry, launch, folders.env["PATH"] ?? "") };
  } catch (error) {
    return { client, path, state: "unreadable", problem: error instanceof Error ? error.message : String(error) };
  }
}

function compareEntry(entry: unknown, launch: PmlLaunch, path: string): Pick<ClientConnection, "state" | "problem"> {
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
  // A command from the PATH starts any installed PML.
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
