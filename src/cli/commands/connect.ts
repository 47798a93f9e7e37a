import { environment, resolveHome } from "../../config/environment.ts";
import { PmlError } from "../../base/errors.ts";
import type { ClientConnection } from "../../client-config/connection.ts";
import { describeLaunch, isInNpxCache, type PmlLaunch } from "../../client-config/launch.ts";
import type { ConfigFolders } from "../../client-config/config-folders.ts";
import type { ConnectRequest, ConnectResult } from "../../client-config/connect-client.ts";
import type { Answer, Command, OptionValues } from "../command.ts";
import { formatTable } from "../table.ts";

export const connect: Command = {
  name: "connect",
  group: "Start",
  summary: "write PML into the configuration of MCP clients; alone, list them",
  examples: ["pml connect claude-code", "pml connect cursor --undo"],
  args: [
    {
      name: "[client...]",
      description:
        "claude-code, claude-desktop, cursor, vscode, gemini, codex, copilot, windsurf or opencode; none: how they stand",
    },
  ],
  options: [
    { flags: "--print", description: "show what would be written, write nothing" },
    { flags: "--undo", description: "take it out again; to the byte, if nobody changed the file since" },
    { flags: "--project", description: "the configuration of the project in this folder instead of yours" },
    { flags: "--name <name>", description: "what PML is called in the client (default: pml)" },
    { flags: "--force", description: "also for a client that is not found, and over an entry that is not PML's" },
  ],
  async run({ args, options }): Promise<Answer> {
    const requests = await readRequests(args, options);
    if (requests.length === 0) return listClients(options);
    const { planConnect, planDisconnect, printEntry } = await import("../../client-config/connect-client.ts");
    if (options["print"] === true) return printEntries(requests.map((each) => ({ each, text: printEntry(each) })));
    const undo = options["undo"] === true;
    // Every plan is made before the first write, so that an error changes nothing.
    const plans = requests.map((request) => ({ request, write: (undo ? planDisconnect : planConnect)(request) }));
    const results = plans.map(({ request, write }) => ({ request, result: write() }));
    return {
      data: results.map(({ result }) => result),
      text: results.map(({ request, result }) => describeResult(request, result)).join("\n"),
      notes: results.flatMap(({ request, result }) => describeNext(request, result)),
    };
  },
};

interface Setting {
  readonly folders: ConfigFolders;
  readonly launch: PmlLaunch;
}

async function readSetting({ config }: OptionValues): Promise<Setting> {
  const { findConfigFolders } = await import("../../client-config/config-folders.ts");
  return {
    folders: findConfigFolders(environment, process.cwd()),
    launch: describeLaunch(environment, typeof config === "string" ? config : undefined),
  };
}

async function readRequests(ids: readonly string[], options: OptionValues): Promise<ConnectRequest[]> {
  const { getClient } = await import("../../client-config/client-table.ts");
  const setting = await readSetting(options);
  return ids.map((id) => ({
    ...setting,
    client: getClient(id),
    scope: options["project"] === true ? "project" : "user",
    name: checkName(String(options["name"] ?? "pml")),
    force: options["force"] === true,
    home: resolveHome(),
  }));
}

function checkName(name: string): string {
  if (/^[A-Za-z0-9_-]{1,32}$/.test(name)) return name;
  throw new PmlError("usage", `"${name}" cannot be a server's name in every client`, {
    hint: "Letters, digits, hyphens and underscores, at most 32; short is good, since it is part of every tool's name",
  });
}

async function listClients(options: OptionValues): Promise<Answer> {
  const { CLIENTS } = await import("../../client-config/client-table.ts");
  const { describeConnection } = await import("../../client-config/connection.ts");
  const { folders, launch } = await readSetting(options);
  const found = CLIENTS.map((client) => describeConnection(client, folders, { launch, scope: "user" }));
  const rows = found.map(({ client, state, path, problem }) => ({
    client: client.id,
    state: STATES[state],
    file: path,
    problem: problem ?? "",
  }));
  return {
    data: found.map(({ client, ...rest }) => ({ client: client.id, title: client.title, ...rest })),
    text: formatTable(rows),
    notes: ["Connect one: pml connect <client>    Undo: pml connect <client> --undo"],
  };
}

const STATES: Readonly<Record<ClientConnection["state"], string>> = {
  connected: "connected",
  broken: "broken",
  other: "connected to another",
  absent: "not connected",
  "no-client": "not found",
  unreadable: "unreadable",
};

function printEntries(entries: readonly { each: ConnectRequest; text: string }[]): Answer {
  return {
    data: entries.map(({ each, text }) => ({ client: each.client.id, format: each.client.format, text })),
    text: entries.map(({ text }) => text).join("\n\n"),
  };
}

function describeResult({ client }: ConnectRequest, { change, name, file, target }: ConnectResult): string {
  const where = target === undefined ? file : `${file} (a link to ${target})`;
  const texts: Readonly<Record<ConnectResult["change"], string>> = {
    added: `added "${name}" to ${where}`,
    updated: `updated "${name}" in ${where}`,
    none: `nothing to do, ${where}`,
    removed: `removed "${name}" from ${where}`,
    restored: `${where} is as it was before`,
    deleted: `deleted ${where}, which PML had made`,
  };
  return `${client.title}: ${texts[change]}`;
}

function describeNext({ client, scope }: ConnectRequest, result: ConnectResult): string[] {
  const { change, backup, file } = result;
  const kept = backup === undefined ? [] : [`What was there before: ${backup}`];
  if (change === "removed") return kept;
  if (change !== "added" && change !== "updated") return [];
  const flags = `${scope === "project" ? " --project" : ""}${result.name === "pml" ? "" : ` --name ${result.name}`}`;
  const shared = scope === "project" ? [`${file} has paths of this machine: others cannot use it`] : [];
  const passing = isInNpxCache()
    ? [
        `It starts PML from the cache of npx, which npm may empty. For good: npm install -g pml && pml connect ${client.id}`,
      ]
    : [];
  return [...kept, ...shared, ...passing, `${client.afterwards}. Undo: pml connect ${client.id} --undo${flags}`];
}
