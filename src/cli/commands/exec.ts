import { routes } from "../../contract/routes.ts";
import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { DaemonAddress } from "../../daemon/daemon-file.ts";
import { PmlError } from "../../base/errors.ts";
import type { JsonSchema } from "../../base/json.ts";
import { argumentOptions, readArguments } from "../arguments.ts";
import type { Command, OptionValues } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { executeThroughGateway } from "../run-programs.ts";

export const exec: Command = {
  name: "exec",
  group: "Use",
  summary: "run TypeScript over all tools and learn from it",
  examples: [
    `pml exec report.ts --intent "sum the sales" --arg dir=/data`,
    `echo 'return 1 + 1' | pml exec - --intent "add"`,
  ],
  args: [{ name: "<file>", description: "the program; - reads it from stdin" }],
  options: [
    { flags: "--intent <text>", description: "what it is for; the name of the file when left out" },
    { flags: "--name <name>", description: "name of the capability, as namespace:action" },
    { flags: "--on-conflict <how>", description: "if the name is taken: error (default), version or suffix" },
    { flags: "--version-tag <tag>", description: "semantic version of it, such as v1.2.0" },
    ...argumentOptions,
    { flags: "--dry-run", description: "only say what would be called" },
    noStartOption,
  ],
  async run(input) {
    const [file = "-"] = input.args;
    const { intent = file === "-" ? "run a program" : file, name, onConflict, versionTag, dryRun } = input.options;
    const code = await readProgram(file);
    const daemon = await reachDaemon(input);
    return executeThroughGateway(daemon, {
      intent,
      code,
      args: readArguments(input.options, await findParameters(daemon, code, input.options)),
      ...(name === undefined ? {} : { name }),
      ...(onConflict === undefined ? {} : { on_conflict: onConflict }),
      ...(versionTag === undefined ? {} : { version_tag: versionTag }),
      options: { dry_run: dryRun === true },
    });
  },
};

/** Infers the parameters of the program, so that a number can be given as one. */
async function findParameters(daemon: DaemonAddress, code: string, { arg }: OptionValues): Promise<JsonSchema> {
  return arg === undefined ? {} : callDaemon(daemon, routes.inferParameters, { body: { code } });
}

async function readProgram(file: string): Promise<string> {
  try {
    return file === "-" ? await readAll(process.stdin) : await readFile(file, "utf8");
  } catch (cause) {
    throw new PmlError("file_unusable", `${file} cannot be read`, { cause, hint: "Is the path right?" });
  }
}
