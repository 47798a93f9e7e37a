import { resolve } from "node:path";
import { PmlError } from "../../base/errors.ts";
import { environment, resolveHome } from "../../config/environment.ts";
import type { Answer, Command, OptionValues } from "../command.ts";
import { formatTable } from "../table.ts";

export const trust: Command = {
  name: "trust",
  group: "Decide",
  summary: "let a project's pml.json or mcp-permissions.yaml count, after a look at it",
  examples: ["pml trust ./pml.json", "pml trust --remove ./pml.json"],
  args: [{ name: "[file]", description: "list the trusted files when left out" }],
  options: [{ flags: "--remove <file>", description: "let it count no longer" }],
  async run({ args: [file], options }): Promise<Answer> {
    const home = resolveHome();
    if (typeof options["remove"] === "string") return removeTrust(home, options["remove"]);
    return file === undefined ? listTrusted(home) : askAndTrust(home, file, options);
  },
};

async function listTrusted(home: string): Promise<Answer> {
  const { readTrustedFiles } = await import("../../config/trusted-files.ts");
  const files = readTrustedFiles(home).map(({ path, state, sha256, trustedAt }) => ({
    path,
    state,
    sha256,
    trustedAt,
  }));
  const text = files.length === 0 ? "No project file is trusted" : formatTable(files);
  return { data: files, text };
}

async function removeTrust(home: string, file: string): Promise<Answer> {
  const { distrustFile } = await import("../../config/trusted-files.ts");
  if (!distrustFile(home, file)) {
    throw new PmlError("config_not_found", `${resolve(file)} is not trusted`, { hint: "All that are: pml trust" });
  }
  return { data: { path: resolve(file), state: "untrusted" }, text: `${file} counts no longer` };
}

/** Asks about the text that was read, and records that text: a file that changes meanwhile is not trusted. */
async function askAndTrust(home: string, given: string, options: OptionValues): Promise<Answer> {
  const { confirmAtTerminal } = await import("../confirm-at-terminal.ts");
  const { loadConfig } = await import("../../config/load-config.ts");
  const { readProjectFile } = await import("../../config/project-file.ts");
  const { trustFile } = await import("../../config/trusted-files.ts");
  const { describeProjectFile } = await import("../describe-project-file.ts");
  const file = readProjectFile(given);
  const { shown, summary } = describeProjectFile(file, loadConfig(options, environment));
  const question = `Trust this file (${summary})?`;
  await confirmAtTerminal({ shown, question, elsewhere: `pml trust ${file.path}` });
  trustFile(home, file, new Date().toISOString());
  const { path, sha256 } = file;
  return {
    data: { path, sha256, state: "trusted" },
    text: `${path} is trusted until it changes`,
    notes: [`Undo: pml trust --remove ${path}`],
  };
}
