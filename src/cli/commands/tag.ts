import type { LookupAnswer } from "../../client/answers.ts";
import { PmlError } from "../../errors.ts";
import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { askRegistry, recordArgument } from "../registry.ts";

const ROUTINGS = ["local", "cloud", "inherit"];

export const tag: Command = {
  name: "tag",
  group: "Manage",
  summary: "add and remove tags of a capability, or say where it runs",
  examples: ["pml tag fs:read_json +config --remove draft", "pml tag report:sum_sales --routing cloud"],
  args: [recordArgument, { name: "[tags...]", description: "tags to add, with or without +" }],
  options: [
    { flags: "--remove <tag...>", description: "tags to remove" },
    { flags: "--routing <where>", description: "local, cloud, or inherit: as its tools say" },
    noStartOption,
  ],
  async run(input) {
    const [name = "", ...words] = input.args;
    const { remove, routing } = input.options;
    const removed = Array.isArray(remove) ? remove : [];
    if (routing !== undefined && !ROUTINGS.includes(String(routing)))
      throw new PmlError("usage", `--routing ${String(routing)} is not known`, {
        hint: `One of: ${ROUTINGS.join(", ")}`,
      });
    if (words.length + removed.length === 0 && routing === undefined)
      throw new PmlError("usage", "There is nothing to change", { hint: `For example: pml tag ${name} +config` });
    const before = await askRegistry<LookupAnswer>(input, "dns:lookup", { name });
    const added = words.map((word) => word.replace(/^\+/, ""));
    const tags = [...new Set([...before.tags, ...added])].filter((each) => !removed.includes(each));
    const record = await askRegistry<LookupAnswer>(input, "dns:tag", {
      name,
      tags,
      ...(routing === undefined ? {} : { routing }),
    });
    const said = `${record.display_name}: ${record.tags.join(", ") || "no tags"}, runs ${record.routing}`;
    return { data: record, text: said, notes: [`Tags before: ${before.tags.join(", ") || "none"}`] };
  },
};
