import type { VersionChanges } from "../../sdk/answers.ts";
import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { describeDiff } from "../describe-diff.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

interface Comparison {
  readonly comparison: { readonly from: number; readonly to: number; readonly diff: VersionChanges };
}

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
    const { comparison } = await askRegistry<Comparison>(input, "dns:history", {
      name,
      compare: { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
    });
    const { from: old, to: current, diff: found } = comparison;
    const breaking = found.breaking ? ["It breaks callers of the old version."] : [];
    return {
      data: { name, ...comparison },
      text: describeDiff(found, input.terminal.colors),
      notes: [`version ${old} → ${current}`, ...breaking],
    };
  },
};
