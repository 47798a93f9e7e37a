import type { VersionAnswer } from "../../contract/records.ts";
import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { summariseDiff } from "../describe-diff.ts";
import { askVersions, recordArgument } from "../ask-registry.ts";
import { formatTable } from "../table.ts";

export const history: Command = {
  name: "history",
  group: "Look",
  summary: "the versions behind a name, the newest first",
  examples: ["pml history fs:read_json", "pml history mcp:filesystem --json"],
  args: [recordArgument],
  options: [noStartOption],
  async run(input) {
    const [name = ""] = input.args;
    const versions = await askVersions(input, name);
    return {
      data: versions,
      text: formatTable(versions.map(toRow)),
      notes: versions.length > 1 ? [`What changed: pml diff ${name}`] : [],
    };
  },
};

function toRow({
  version,
  version_tag: tag,
  updated_at: at,
  updated_by: by,
  change_summary: summary,
  diff,
}: VersionAnswer): Record<string, string> {
  return {
    version: String(version),
    tag: tag ?? "",
    at,
    by,
    changes: [summary, diff === null ? undefined : summariseDiff(diff)].filter(Boolean).join("; "),
  };
}
