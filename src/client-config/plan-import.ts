import { isDeepStrictEqual } from "node:util";
import { foldServer } from "../catalogue/tool-id.ts";
import { checkServerEntry } from "../config/check-entry.ts";
import { withoutOwnSettings } from "../config/hint-trust.ts";
import { isReservedName, isServerName, type McpServerEntry } from "../config/schema.ts";
import { findSecrets } from "../config/secrets.ts";
import { PmlError } from "../base/errors.ts";
import { reachesPort, startsPml } from "./launch.ts";
import { type FoundServer, isTable } from "./read-servers.ts";
import { translateEntry, type TranslateOptions } from "./translate-entry.ts";

/** The decision about one server that was found. */
export interface PlannedServer {
  /** Its name in PML. */
  readonly name: string;
  /** Its name in the source file. */
  readonly original: string;
  readonly file: string;
  readonly action: "add" | "replace" | "skip";
  /** The reason for skipping it. */
  readonly reason?: string;
  readonly entry?: McpServerEntry;
  readonly notes: readonly string[];
}

export interface ImportOptions extends TranslateOptions {
  /** Limits the import to these, by either of their names; undefined means all. */
  readonly only: readonly string[] | undefined;
  /** Overwrites servers of the same name that differ. */
  readonly replace: boolean;
  /** Ports of PML itself: an entry that points at them would be a loop. */
  readonly ownPorts: readonly number[];
}

type Servers = Readonly<Record<string, unknown>>;

/** Decides about every server found, in order. Writes nothing. */
export function planImport(found: readonly FoundServer[], existing: Servers, options: ImportOptions): PlannedServer[] {
  const taken: Record<string, unknown> = { ...existing };
  const chosen = found.filter((server) => isChosen(server, options.only));
  checkOnly(found, options.only);
  return chosen.map((server) => {
    const planned = planServer(server, taken, options);
    if (planned.entry !== undefined) taken[planned.name] = planned.entry;
    return planned;
  });
}

function planServer(server: FoundServer, taken: Servers, options: ImportOptions): PlannedServer {
  const wanted = isServerName(server.name) ? server.name : legalName(server.name);
  const found = { original: server.name, file: server.file };
  const skip = (reason: string, name = wanted): PlannedServer => ({
    ...found,
    name,
    action: "skip",
    reason,
    notes: [],
  });
  if (startsPml(server.raw) || reachesPort(server.raw, options.ownPorts)) return skip("it is PML itself");
  try {
    const { entry: translated, notes } = translateEntry(server, options);
    const entry = checkServerEntry(wanted, withoutOwnSettings(translated));
    const same = namesLike(wanted, taken).find((name) => isDeepStrictEqual(trimSettings(taken[name]), entry));
    if (same !== undefined) return skip(`PML has it already${same === server.name ? "" : `, as ${same}`}`, same);
    const name = options.replace ? findSameServer(wanted, taken) : freeName(wanted, taken);
    const renamed = name === server.name ? [] : [renameNote(server.name, wanted, name)];
    const action = Object.hasOwn(taken, name) ? "replace" : "add";
    return {
      ...found,
      name,
      action,
      entry,
      notes: [...renamed, ...notes, ...settingNotes(translated), ...secretNotes(entry)],
    };
  } catch (error) {
    if (!(error instanceof PmlError)) throw error;
    return skip(error.message);
  }
}

function settingNotes(entry: Readonly<Record<string, unknown>>): string[] {
  return entry["pml"] === undefined ? [] : ['its settings in "pml" were not taken over: those are yours to make'];
}

/** A server that a person gave settings is still the same server. */
function trimSettings(entry: unknown): unknown {
  return isTable(entry) ? withoutOwnSettings(entry) : entry;
}

/** Converts to letters, digits and hyphens, and avoids PML's reserved names. */
export function legalName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  if (plain === "") return "server";
  return isReservedName(plain) ? `${plain}-server` : plain;
}

/** The name in use for the server, whatever its case and signs. */
function findSameServer(wanted: string, taken: Servers): string {
  return Object.keys(taken).find((name) => foldServer(name) === foldServer(wanted)) ?? wanted;
}

function freeName(wanted: string, taken: Servers): string {
  let name = wanted;
  const known = new Set(Object.keys(taken).map(foldServer));
  for (let number = 2; known.has(foldServer(name)); number += 1) name = `${wanted}-${number}`;
  return name;
}

/** Lists a name and its numbered variants. */
function namesLike(wanted: string, taken: Servers): string[] {
  const folded = foldServer(wanted);
  return Object.keys(taken).filter((name) => [name, name.replace(/-\d+$/, "")].map(foldServer).includes(folded));
}

function renameNote(original: string, wanted: string, name: string): string {
  if (name === wanted) return `"${original}" is no legal name here, so it is called ${name}`;
  return `another ${wanted} is there, which differs, so it is called ${name} (--replace overwrites that one)`;
}

function secretNotes(entry: McpServerEntry): string[] {
  return findSecrets(entry).map(
    ({ where }) =>
      `${where} holds a secret, which is copied as it is; safer is a variable, such as \${${suggest(where)}}`,
  );
}

function suggest(where: string): string {
  const [, name] = /^env\.(\w+)$/.exec(where) ?? [];
  return name ?? "NAME";
}

function isChosen({ name }: FoundServer, only: readonly string[] | undefined): boolean {
  return only === undefined || only.includes(name) || only.includes(legalName(name));
}

function checkOnly(found: readonly FoundServer[], only: readonly string[] | undefined): void {
  const unknown = only?.find((name) => !found.some((server) => isChosen(server, [name])));
  if (unknown === undefined) return;
  throw new PmlError("server_not_found", `No server "${unknown}" was found there`, {
    hint: `Found: ${found.map(({ name }) => name).join(", ")}`,
  });
}
