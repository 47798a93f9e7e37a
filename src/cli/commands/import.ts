import { createReadStream } from "node:fs";
import { access, constants } from "node:fs/promises";
import { uploadToDaemon } from "../../daemon/daemon-client.ts";
import { PmlError } from "../../errors.ts";
import type { ImportResult } from "../../housekeeping/import-memory.ts";
import type { Answer, Command, Input } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withProgress } from "../progress.ts";

export const importCommand: Command = {
  name: "import",
  group: "Manage",
  summary: "read an export into this memory, or into a PostgreSQL server",
  examples: ["pml import memory.pml", "pml import memory.pml --pg postgres://user:password@localhost/pml"],
  args: [{ name: "<file>", description: "a file written by pml export or pml backup" }],
  options: [
    { flags: "--pg <url>", description: "import into this PostgreSQL server instead of this PML_HOME" },
    { flags: "--dry-run", description: "check the file and say what it holds, import nothing" },
    noStartOption,
  ],
  async run(input): Promise<Answer> {
    const [path = ""] = input.args;
    await checkReadable(path);
    if (input.options["dryRun"] === true) return describeFile(path);
    const result = await withProgress("Importing", input.terminal.options.quiet, () => importFile(path, input));
    return {
      data: result,
      text: `Imported ${result.added} rows, ${result.kept} were already there`,
      notes: [`sha256 ${result.rows_sha256}`],
    };
  },
};

async function importFile(path: string, input: Input): Promise<ImportResult> {
  const { pg } = input.options;
  if (typeof pg === "string") return importIntoServer(pg, path);
  return uploadToDaemon<ImportResult>(await reachDaemon(input), "/api/import", createReadStream(path));
}

async function importIntoServer(url: string, path: string): Promise<ImportResult> {
  const { withServerDatabase } = await import("../../app.ts");
  const { importMemory } = await import("../../housekeeping/import-memory.ts");
  return withServerDatabase(url, (client) => importMemory(client, path));
}

async function describeFile(path: string): Promise<Answer> {
  const { verifyExport } = await import("../../housekeeping/import-memory.ts");
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
    throw new PmlError("file_unusable", `Cannot read ${path}: ${reason}`, {
      hint: "Give the path of a file made by: pml export -o memory.pml",
      cause,
    });
  }
}
