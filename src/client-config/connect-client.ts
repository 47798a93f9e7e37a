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
import { type Launch, startsPml } from "./launch.ts";
import type { Places } from "./places.ts";

export interface ConnectRequest {
  readonly client: Client;
  readonly scope: "user" | "project";
  /** What PML is called in the client. */
  readonly name: string;
  /** Make the file of a client that does not seem to be here, and take over an entry that is not PML's. */
  readonly force: boolean;
  readonly places: Places;
  readonly launch: Launch;
  /** PML_HOME, where what was written is noted. */
  readonly home: string;
}

export interface ConnectResult {
  readonly client: string;
  readonly file: string;
  /** Where a link was followed to. */
  readonly target?: string;
  readonly name: string;
  readonly change: "added" | "updated" | "none" | "removed" | "restored" | "deleted";
  readonly backup?: string;
}

/** Everything that can go wrong is found out here; what is returned only writes. */
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

/** Takes PML's entry out, to the byte where nobody has changed the file since it was put in. */
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

/** The entry as it would be written, for people who write it themselves. */
export function printEntry({ client, name, launch }: ConnectRequest): string {
  return FORMATS[client.format].print([client.key[0], name], client.entry(launch));
}

function openFile({ client, scope, places, force }: ConnectRequest): ClientFile {
  const path = findClientFile(client, places, scope);
  if (scope === "user" && !force && !isClientHere(client, places)) {
    const looked = [...new Set([...client.user(places), ...client.signs(places)])];
    throw new PmlError(
      "client_not_found",
      `${client.title} does not seem to be set up here: there is no ${looked.join(", no ")}`,
      {
        hint: `Make its configuration all the same: pml connect ${client.id} --force`,
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
