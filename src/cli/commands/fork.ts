import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { forkPublished } from "../fork-published.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

export const fork: Command = {
  name: "fork",
  group: "Manage",
  summary: "copy a capability or server record into this project",
  examples: [
    "pml fork fs:read_json fs:read_json_strict",
    "pml fork https://pml.example.com/registry/capabilities/acme.web.fs.read_json.a7f3",
  ],
  args: [
    {
      ...recordArgument,
      name: "<source>",
      description: `${recordArgument.description}; or the address of one that another gateway publishes`,
    },
    { name: "[name]", description: "name of the copy; left out: the same, where it is free" },
  ],
  options: [noStartOption],
  async run(input) {
    const [source = "", name] = input.args;
    if (/^https?:\/\//.test(source)) return forkPublished(input, source, name);
    const record = await askRegistry(input, "dns:fork", {
      source,
      ...(name === undefined ? {} : { name }),
    });
    return {
      data: record,
      text: `${record.display_name} is a copy of ${record.forked_from ?? source}`,
      notes: [`Undo: pml archive ${record.display_name}`],
    };
  },
};
