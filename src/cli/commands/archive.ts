import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

export const archive: Command = {
  name: "archive",
  group: "Manage",
  summary: "take a capability out of lists and out of use",
  examples: ["pml archive fs:read_json", "pml archive report:old --json"],
  args: [recordArgument],
  options: [noStartOption],
  async run(input) {
    const [name = ""] = input.args;
    const record = await askRegistry(input, "learn:archive", { name });
    return {
      data: record,
      text: `Archived ${record.display_name}`,
      notes: [`Undo: pml restore ${record.display_name}`],
    };
  },
};
