import { readFileSync } from "node:fs";
import { PmlError } from "../../base/errors.ts";
import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

export const merge: Command = {
  name: "merge",
  group: "Manage",
  summary: "make one capability of several, each fed by the one before",
  examples: ["pml merge fs:read_json transform:flatten --as fs:read_flat", "pml merge a:x b:y --as c:z --code own.ts"],
  args: [{ ...recordArgument, name: "<sources...>" }],
  options: [
    { flags: "--as <name>", description: "name of the new one" },
    { flags: "--code <file>", description: "own code instead of the generated pipeline" },
    noStartOption,
  ],
  async run(input) {
    const { as: name, code } = input.options;
    if (name === undefined)
      throw new PmlError("usage", "--as is missing: the name of the new capability", {
        hint: `For example: pml merge ${input.args.join(" ")} --as namespace:action`,
      });
    const record = await askRegistry(input, "dns:merge", {
      sources: input.args,
      name,
      ...(code === undefined ? {} : { code: readCode(String(code)) }),
    });
    return {
      data: record,
      text: `${record.display_name} calls ${input.args.join(", then ")}`,
      notes: [`Try: pml run ${record.display_name}`, `Undo: pml archive ${record.display_name}`],
    };
  },
};

function readCode(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("file_unusable", `Cannot read ${path}: ${reason}`, { cause });
  }
}
