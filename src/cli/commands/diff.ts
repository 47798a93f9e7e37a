import { PmlError } from "../../base/errors.ts";
import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { describeDiff } from "../describe-diff.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

export const diff: Command = {
  name: "diff",
  group: "Look",
  summary: "what differs between two versions; left out: the last two",
  examples: ["pml diff fs:read_json", "pml diff fs:read_json 1 3"],
  args: [
    recordArgument,
    { name: "[from]", description: "1, v1.2.0, a date" },
    { name: "[to]", description: "the same; left out: the current one" },
  ],
  options: [noStartOption],
  async run(input) {
    const [name = "", from, to] = input.args;
    const answer = await askRegistry(input, "dns:history", {
      name,
      compare: { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
    });
    if (!("comparison" in answer)) throw new PmlError("internal", `The gateway did not compare versions of ${name}`);
    const { comparison } = answer;
    const { from: old, to: current, diff: found } = comparison;
    const breaking = found.breaking ? ["It breaks callers of the old version."] : [];
    return {
      data: { name, ...comparison },
      text: describeDiff(found, input.terminal.colors),
      notes: [`version ${old} → ${current}`, ...breaking],
    };
  },
};
