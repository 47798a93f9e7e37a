import { InvalidArgumentError } from "commander";
import { PmlError } from "../../base/errors.ts";
import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { withoutUndefined } from "../../base/without-undefined.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

const ROUTINGS = ["local", "cloud", "inherit"];

export const tag: Command = {
  name: "tag",
  group: "Manage",
  summary: "add and remove tags of a capability, say where it runs and whether its answers are used again",
  examples: ["pml tag fs:read_json +config --remove draft", "pml tag report:sum_sales --routing cloud"],
  args: [recordArgument, { name: "[tags...]", description: "tags to add, with or without +" }],
  options: [
    { flags: "--remove <tag...>", description: "tags to remove" },
    { flags: "--routing <where>", description: "local, cloud, or inherit: as its tools say" },
    { flags: "--cache <policy>", description: "answers for equal arguments: none, memoize, or persistent" },
    { flags: "--ttl <seconds>", description: "how long an answer may be used again", parse: parseSeconds },
    noStartOption,
  ],
  async run(input) {
    const [name = "", ...words] = input.args;
    const { remove, routing, cache: cachePolicy, ttl } = input.options;
    const removed = Array.isArray(remove) ? remove : [];
    if (routing !== undefined && !ROUTINGS.includes(String(routing)))
      throw new PmlError("usage", `--routing ${String(routing)} is not known`, {
        hint: `One of: ${ROUTINGS.join(", ")}`,
      });
    const others = withoutUndefined({ routing, cache_policy: cachePolicy, ttl });
    if (words.length + removed.length + Object.keys(others).length === 0)
      throw new PmlError("usage", "There is nothing to change", { hint: `For example: pml tag ${name} +config` });
    const before = await askRegistry(input, "dns:lookup", { name });
    const added = words.map((word) => word.replace(/^\+/, ""));
    const tags = [...new Set([...before.tags, ...added])].filter((each) => !removed.includes(each));
    const record = await askRegistry(input, "dns:tag", {
      name,
      tags,
      ...others,
    });
    const said = `${record.display_name}: ${record.tags.join(", ") || "no tags"}, runs ${record.routing}`;
    return { data: record, text: said, notes: [`Tags before: ${before.tags.join(", ") || "none"}`] };
  },
};

function parseSeconds(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError("It must be a whole number of seconds above 0.");
  return Number(text);
}
