import { closeSync, openSync, readSync } from "node:fs";
import { CLIENTS, type Client, findClient } from "../client-config/client-table.ts";
import { findClientServers, findFileServers, type FoundServers, isProjectFile } from "../client-config/find-servers.ts";
import { findConfigFolders } from "../client-config/config-folders.ts";
import { planImport, type PlannedServer } from "../client-config/plan-import.ts";
import { editServers, findEditableConfig } from "../config/edit-config.ts";
import { environment, resolveHome } from "../config/environment.ts";
import { loadConfig } from "../config/load-config.ts";
import { resolveServers } from "../config/mcp-servers.ts";
import type { McpServerEntry } from "../config/schema.ts";
import { readDaemonAddress } from "../daemon/daemon-file.ts";
import { PmlError } from "../base/errors.ts";
import type { Answer, Input, OptionValues } from "./command.ts";
import { confirmAtTerminal } from "./confirm-at-terminal.ts";
import { describeServer } from "./describe-project-file.ts";
import { checkTrustOption, offerTrust } from "./hint-trust.ts";
import { formatTable } from "./table.ts";

/**
 * Finds the servers in a source; undefined for an export of memory. A client's name always means the client; the
 * beginning of a file tells its kind.
 */
export async function findServerSource(source: string, options: OptionValues): Promise<FoundServers | undefined> {
  const folders = findConfigFolders(environment, process.cwd());
  const clients = namedClients(source);
  const from = options["from"];
  if (clients === undefined) {
    const forServers = ["only", "replace", "from"].find((name) => options[name] !== undefined);
    if (!isExport(source)) return findFileServers(source, undefined, folders);
    if (forServers === undefined) return undefined;
    throw new PmlError("usage", `--${forServers} is for servers, but ${source} is an export of memory`);
  }
  if (options["pg"] !== undefined) throw new PmlError("usage", "--pg is for exports of memory, not for servers");
  if (typeof from === "string") return findFileServers(from, source, folders);
  const found = findClientServers(clients, folders);
  if (found.read.length > 0) return found;
  throw new PmlError("client_not_found", `No configuration of ${source} was found`, {
    hint: `Looked for ${found.looked.join("\n  ")}\nAnother file: pml import ${source} --from <path>`,
    details: { looked: found.looked },
  });
}

function namedClients(word: string): readonly Client[] | undefined {
  if (word === "claude") return CLIENTS.filter(({ id }) => id.startsWith("claude-"));
  const client = findClient(word);
  return client === undefined ? undefined : [client];
}

const EXPORT_BEGINS = '{"pml_export"';

/** Returns undefined for an unreadable file: the reader of exports reports it. */
function isExport(path: string): boolean {
  if (path.endsWith(".pml")) return true;
  try {
    const file = openSync(path, "r");
    const begin = Buffer.alloc(EXPORT_BEGINS.length);
    readSync(file, begin);
    closeSync(file);
    return begin.toString("utf8") === EXPORT_BEGINS;
  } catch {
    return true;
  }
}

export async function importServers(found: FoundServers, input: Input): Promise<Answer> {
  const { options } = input;
  const { config, only, dryRun } = options;
  await checkTrustOption(input);
  const asked = typeof config === "string" ? config : undefined;
  const { path, servers } = findEditableConfig(asked, environment);
  const existing = typeof servers === "object" && servers !== null ? (servers as Record<string, unknown>) : {};
  const folders = findConfigFolders(environment, process.cwd());
  const { home, project } = folders;
  const plan = planImport(found.servers, existing, {
    home,
    folder: project,
    only: Array.isArray(only) ? only : undefined,
    replace: options["replace"] === true,
    ownPorts: findOwnPorts(asked),
  });
  const changes = Object.fromEntries(plan.flatMap(({ name, entry }) => (entry === undefined ? [] : [[name, entry]])));
  const changed = Object.keys(changes).length > 0;
  if (dryRun !== true) await confirmStrangers(plan.filter(({ file }) => isProjectFile(file, folders)));
  const written = changed && dryRun !== true ? editServers(asked, environment, changes) : undefined;
  const missing = findMissing(changes);
  const usable = Object.keys(written === undefined ? {} : changes).filter((name) => !missing.has(name));
  const doubts = await offerTrust(
    input,
    usable.filter((name) => changes[name]?.disabled !== true),
  );
  return {
    data: {
      file: path,
      dryRun: dryRun === true,
      read: found.read,
      servers: plan.map(({ entry, ...rest }) => ({
        ...rest,
        ...describeEntry(entry),
        problem: missing.get(rest.name),
      })),
    },
    text: describePlan(plan, found, dryRun === true),
    notes: [
      ...plan.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
      ...[...missing].map(([name, reason]) => `${name}: ${reason}; set it where PML is started`),
      ...doubts,
      ...(dryRun === true ? [`Nothing was changed. It would go into ${path}`] : []),
      ...(written === undefined ? [] : describeWritten(written, Object.keys(changes))),
    ],
  };
}

/** Shows the servers that a project's file brings: a cloned repository starts nothing that nobody looked at. */
async function confirmStrangers(plan: readonly PlannedServer[]): Promise<void> {
  const strangers = plan.flatMap(({ name, file, entry }) =>
    entry === undefined ? [] : [file, ...describeServer([name, entry]).map((line) => `  ${line}`)],
  );
  if (strangers.length === 0) return;
  await confirmAtTerminal({
    shown: ["Programs that files of a project would start with your rights:", ...strangers].join("\n"),
    question: "Add them?",
    elsewhere: "pml import --dry-run shows them, pml add takes them one by one",
  });
}

/** The address that PML listens on, or would. */
function findOwnPorts(asked: string | undefined): number[] {
  const running = URL.parse(readDaemonAddress(resolveHome())?.url ?? "");
  const { port } = loadConfig(asked === undefined ? {} : { config: asked }, environment).http;
  return running === null ? [port] : [port, Number(running.port)];
}

function findMissing(changes: Readonly<Record<string, McpServerEntry>>): Map<string, string> {
  return new Map(
    resolveServers(changes, environment).flatMap((each) =>
      each.state === "unusable" ? [[each.name, each.reason]] : [],
    ),
  );
}

/** Describes a server without its arguments, variables and headers, which may hold secrets. */
function describeEntry(entry: McpServerEntry | undefined): Record<string, unknown> {
  if (entry === undefined) return {};
  const disabled = entry.disabled === true;
  return entry.command === undefined
    ? { url: bareUrl(entry.url ?? ""), disabled }
    : { command: entry.command, disabled };
}

function bareUrl(url: string): string {
  return url.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//");
}

const DONE = { add: "added", replace: "replaced", skip: "skipped" } as const;

function describePlan(plan: readonly PlannedServer[], { read }: FoundServers, dryRun: boolean): string {
  if (plan.length === 0) return `No servers in ${read.join(", ")}`;
  return formatTable(
    plan.map(({ name, original, action, reason, file }) => ({
      server: name,
      action: dryRun ? action : DONE[action],
      found: `${original} in ${file}`,
      why: reason ?? "",
    })),
  );
}

function describeWritten({ file, first }: { file: string; first: boolean }, names: readonly string[]): string[] {
  return [
    `Written to ${file}, which only you can read. The file it came from is as it was.`,
    ...(first ? ["The servers that ship with PML are used only while none is configured."] : []),
    `A running gateway takes it over by itself: pml servers    Undo: ${names.map((name) => `pml remove ${name}`).join("; ")}`,
  ];
}
