import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

export const rename: Command = {
  name: "rename",
  group: "Manage",
  summary: "give a capability another name; the old one keeps working",
  examples: ["pml rename unnamed_3841f1aa report:sum_sales", "pml rename fs:read fs:read_json"],
  args: [
    { ...recordArgument, name: "<old>" },
    { name: "<new>", description: "namespace:action" },
  ],
  options: [noStartOption],
  async run(input) {
    const [name = "", newName = ""] = input.args;
    const renamed = await askRegistry(input, "dns:rename", { name, newName });
    const { old_name: oldName, display_name: current, warnings } = renamed;
    return {
      data: renamed,
      text: `${oldName} → ${current}`,
      notes: [...warnings.map((text) => `! ${text}`), `Undo: pml rename ${current} ${oldName}`],
    };
  },
};
