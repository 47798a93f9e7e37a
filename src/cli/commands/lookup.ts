import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { describeLookup } from "../format-record.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

export const lookup: Command = {
  name: "lookup",
  group: "Look",
  summary: "what a name stands for",
  examples: ["pml lookup fs:read_json@v1", "pml lookup mcp:filesystem --json"],
  args: [recordArgument],
  options: [noStartOption],
  async run(input) {
    const [name = ""] = input.args;
    const record = await askRegistry(input, "dns:lookup", { name });
    return { data: record, text: describeLookup(record), notes: (record.warnings ?? []).map((text) => `! ${text}`) };
  },
};
