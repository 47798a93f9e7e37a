import { routes } from "../../contract/routes.ts";
import { createReadStream, mkdirSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { uploadToDaemon } from "../../daemon/daemon-client.ts";
import { ensureDecisionKey } from "../../daemon/daemon-file.ts";
import { environment } from "../../config/environment.ts";
import { loadConfig } from "../../config/load-config.ts";
import { PmlError } from "../../base/errors.ts";
import type { ImportResult } from "../../contract/status.ts";
import { reachAsPerson } from "../as-person.ts";
import type { Answer, Command, Input } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { trustHintsOption } from "../trust-hints-option.ts";
import { withProgress } from "../progress.ts";

export const importCommand: Command = {
  name: "import",
  group: "Manage",
  summary: "take over the MCP servers of another client, or read an export into this memory",
  examples: ["pml import cursor --dry-run", "pml import memory.pml"],
  args: [
    {
      name: "<source>",
      description:
        "claude (Desktop and Code), claude-code, claude-desktop, cursor, vscode, gemini, codex, copilot, windsurf, opencode; " +
        "or a file: one with MCP servers, a server.json or the package.json of a server, or one written by pml export " +
        "or pml backup (./cursor for a file of that name)",
    },
  ],
  options: [
    { flags: "--dry-run", description: "say what would be imported, import nothing" },
    { flags: "--only <name...>", description: "servers: only these" },
    { flags: "--from <path>", description: "servers: read this file as the client's" },
    { flags: "--replace", description: "servers: overwrite those of the same name that differ" },
    trustHintsOption,
    { flags: "--name <name>", description: "server.json: the name it gets, without mcp:" },
    { flags: "--visibility <who>", description: "server.json: private (default), project, org or public" },
    { flags: "--pg <url>", description: "memory: into this PostgreSQL server instead of this PML_HOME" },
    noStartOption,
  ],
  async run(input): Promise<Answer> {
    const [source = ""] = input.args;
    const { importServerRecord, readServerRecord } = await import("../server-record.ts");
    const record = readServerRecord(source);
    if (record !== undefined) return importServerRecord(input, record);
    const { findServerSource, importServers } = await import("../import-servers.ts");
    const servers = await findServerSource(source, input.options);
    if (servers !== undefined) return importServers(servers, input);
    await checkReadable(source);
    if (input.options["dryRun"] === true) return describeFile(source);
    const result = await withProgress("Importing", input.terminal.options.quiet, () => importFile(source, input));
    return {
      data: result,
      text: `Imported ${result.added} rows, ${result.kept} were already there`,
      notes: [
        ...result.notes,
        ...(result.left_out === 0
          ? []
          : [`${result.left_out} rows were not taken: PML computes or asks for what they say`]),
        `sha256 ${result.rows_sha256}`,
      ],
    };
  },
};

async function importFile(path: string, input: Input): Promise<ImportResult> {
  const { pg } = input.options;
  if (typeof pg === "string") return importIntoServer(pg, path, input);
  return uploadToDaemon(await reachAsPerson(input), routes.importMemory, createReadStream(path));
}

/** Imports without a daemon, as the person whose PML_HOME this is, into the scope of its configuration. */
async function importIntoServer(url: string, path: string, { options }: Input): Promise<ImportResult> {
  const { importIntoServer: importInto } = await import("../../app/open-transfer.ts");
  const { config: file } = options;
  const config = loadConfig(typeof file === "string" ? { config: file } : {}, environment);
  requireDecisionKey(config.home);
  const { notes, ...result } = await importInto(config, url, path);
  return { ...result, notes: [...notes] };
}

/** Proves that the caller owns the PML_HOME whose configuration counts; one that never had a daemon gets a key. */
function requireDecisionKey(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    ensureDecisionKey(home);
  } catch (cause) {
    throw new PmlError("request_refused", `The decision key in ${home} cannot be read`, {
      hint: "Import as the user who runs PML",
      cause,
    });
  }
}

async function describeFile(path: string): Promise<Answer> {
  const { verifyExport } = await import("../../housekeeping/verify-export.ts");
  const { header, footer } = await verifyExport(path);
  const filled = header.tables.filter(({ rows }) => rows > 0).map(({ name, rows }) => `${rows} ${name}`);
  return {
    data: { ...header, ...footer },
    text: `${path} is complete: ${footer.rows} rows of schema version ${header.schema_version}`,
    notes: filled,
  };
}

async function checkReadable(path: string): Promise<void> {
  try {
    await access(path, constants.R_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const { findClosestClient } = await import("../../client-config/client-table.ts");
    const client = findClosestClient(path);
    throw new PmlError("file_unusable", `Cannot read ${path}: ${reason}`, {
      hint:
        client === undefined
          ? "Give a client, a file with MCP servers, or a file made by: pml export -o memory.pml"
          : `Did you mean: pml import ${client}`,
      cause,
    });
  }
}
