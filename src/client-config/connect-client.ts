import { PmlError } from "../base/errors.ts";
import type { Client } from "./client-table.ts";
import {
  addPml,
  type ClientFile,
  findClientFile,
  isClientHere,
  openClientFile,
  readEntries,
  removePml,
} from "./connection.ts";
import { ConnectionRecord } from "./connection-record.ts";
import { FORMATS } from "./formats.ts";
import { type PmlLaunch, startsPml } from "./launch.ts";
import type { ConfigFolders } from "./config-folders.ts";

export interface ConnectRequest {
  readonly client: Client;
  readonly scope: "user" | "project";
  /** The name of PML in the client. */
  readonly name: string;
  /** Creates the file of a client that seems absent, and replaces an entry of the same name that is not PML's. */
  readonly force: boolean;
  readonly folders: ConfigFolders;
  readonly launch: PmlLaunch;
  /** PML_HOME, which records the written files. */
  readonly home: string;
}

export interface ConnectResult {
  readonly client: string;
  readonly file: string;
  /** The target, if the file is a link. */
  readonly target?: string;
  readonly name: string;
  readonly change: "added" | "updated" | "none" | "removed" | "restored" | "deleted";
  readonly backup?: string;
}

/** Performs every check now; the returned function only writes. */
export function planConnect(request: ConnectRequest): () => ConnectResult {
  const { client, name, launch, home } = request;
  const file = openFile(request);
  const present = readEntries(file)[name];
  if (present !== undefined && !startsPml(present) && !request.force) throw nameTaken(file, name);
  const after = addPml(file, name, launch);
  const result = { ...describe(file), client: client.id, name };
  if (after === file.text) return () => ({ ...result, change: "none" });
  return () => {
    const backup = new ConnectionRecord(home).write(file, { name, after, hadPml: startsPml(present) });
    const change = present === undefined ? "added" : "updated";
    return { ...result, change, ...(backup === undefined ? {} : { backup }) };
  };
}

/** Removes PML's entry, byte for byte if the file has not changed since. */
export function planDisconnect(request: ConnectRequest): () => ConnectResult {
  const { client, name, home } = request;
  const file = openFile({ ...request, force: true });
  const result = { ...describe(file), client: client.id, name };
  const present = readEntries(file)[name];
  if (present === undefined) return () => ({ ...result, change: "none" });
  if (!startsPml(present)) throw nameTaken(file, name);
  const after = removePml(file, name);
  return () => {
    const record = new ConnectionRecord(home);
    const restored = record.restore(file, name);
    if (restored !== undefined) return { ...result, change: restored };
    const backup = record.remove(file, after);
    return { ...result, change: "removed", ...(backup === undefined ? {} : { backup }) };
  };
}

/** Formats the entry for people who insert it themselves. */
export function printEntry({ client, name, launch }: ConnectRequest): string {
  return FORMATS[client.format].print([client.key[0], name], client.entry(launch));
}

function openFile({ client, scope, folders, force }: ConnectRequest): ClientFile {
  const path = findClientFile(client, folders, scope);
  if (scope === "user" && !force && !isClientHere(client, folders)) {
    const looked = [...new Set([...client.user(folders), ...client.signs(folders)])];
    throw new PmlError(
      "client_not_found",
      `${client.title} does not seem to be set up here: there is no ${looked.join(", no ")}`,
      {
        hint: `Create its configuration anyway: pml connect ${client.id} --force`,
        details: { looked },
      },
    );
  }
  return openClientFile(client, path);
}

function describe({ path, real }: ClientFile): { file: string; target?: string } {
  return real === path ? { file: path } : { file: path, target: real };
}

function nameTaken({ path }: ClientFile, name: string): PmlError {
  return new PmlError(
    "client_config_unusable",
    `"${name}" in ${path} is another server, not PML. Nothing was changed`,
    {
      hint: "Use another name: --name pml2",
    },
  );
}
