import { routes } from "../../contract/routes.ts";
import { createWriteStream } from "node:fs";
import { rename, rm, writeFile as writeText } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { downloadFromDaemon } from "../../daemon/daemon-client.ts";
import { PmlError } from "../../base/errors.ts";
import type { Answer, Command, Input } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withProgress } from "../progress.ts";

export const exportCommand: Command = {
  name: "export",
  group: "Manage",
  summary: "write everything that was learned as NDJSON",
  examples: ["pml export -o memory.pml", "pml export | gzip > memory.pml.gz"],
  args: [
    { name: "[server]", description: "only the server.json of this one, such as mcp:filesystem", completes: "record" },
  ],
  options: [{ flags: "-o, --output <file>", description: "file to write (default: stdout)" }, noStartOption],
  async run(input): Promise<Answer | undefined> {
    const { options, terminal } = input;
    const output = options["output"];
    const [server] = input.args;
    if (server !== undefined) return exportServer(input, server, output);
    if (typeof output !== "string" && terminal.options.json) {
      throw new PmlError("usage", "--json prints a summary, so the export itself needs a file", {
        hint: "Name one: pml export --json -o memory.pml",
      });
    }
    const lines = await downloadFromDaemon(await reachDaemon(input), routes.exportMemory);
    if (typeof output !== "string") {
      await pipeline(lines, process.stdout);
      return undefined;
    }
    const footer = await withProgress("Exporting", terminal.options.quiet, () => writeFile(lines, output));
    return {
      data: { path: output, ...footer },
      text: output,
      notes: [`${footer.rows} rows, sha256 ${footer.rows_sha256}`, `Read it back: pml import ${output}`],
    };
  },
};

async function exportServer(input: Input, name: string, output: unknown): Promise<Answer> {
  const { exportServerRecord } = await import("../server-record.ts");
  const { text, document } = await exportServerRecord(input, name);
  if (typeof output !== "string") return { data: document, text };
  try {
    await writeText(output, text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("file_unusable", `The server.json could not be written to ${output}: ${reason}`, { cause });
  }
  return { data: { path: output }, text: output, notes: [`Read it back: pml import ${output}`] };
}

/** Writes the file under its name only when it is complete; a copy that breaks off leaves the old file alone. */
async function writeFile(
  lines: AsyncIterable<Uint8Array>,
  path: string,
): Promise<{ rows: number; rows_sha256: string }> {
  const partial = `${path}.partial`;
  try {
    await pipeline(lines, createWriteStream(partial, { mode: 0o600, flush: true }));
    const { verifyExport } = await import("../../housekeeping/verify-export.ts");
    const { footer } = await verifyExport(partial);
    await rename(partial, path);
    return { rows: footer.rows, rows_sha256: footer.rows_sha256 };
  } catch (cause) {
    await rm(partial, { force: true });
    if (cause instanceof PmlError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("file_unusable", `The export could not be written to ${path}: ${reason}`, {
      hint: "Choose a file in a directory you can write to: pml export -o memory.pml",
      cause,
    });
  }
}
