import type { LookupAnswer, WhoisAnswer } from "../../client/answers.ts";
import { PmlError } from "../../errors.ts";
import type { Answer, Command, Input } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { askRegistry, recordArgument } from "../registry.ts";

export const restore: Command = {
  name: "restore",
  group: "Manage",
  summary: "bring back what was archived or deleted, or an old version",
  examples: ["pml restore fs:read_json", "pml restore fs:read_json v1"],
  args: [recordArgument, { name: "[version]", description: "v1, v1.2.0, a date: becomes the newest version" }],
  options: [noStartOption],
  async run(input) {
    const [name = "", version] = input.args;
    if (version !== undefined) return restoreVersion(input, name, version);
    const record = await askRegistry<LookupAnswer>(input, "learn:restore", { name });
    return {
      data: record,
      text: `Restored ${record.display_name}`,
      notes: [`Undo: pml archive ${record.display_name}`],
    };
  },
};

/** Versions never change, so the old one comes back as a new one. */
async function restoreVersion(input: Input, name: string, version: string): Promise<Answer> {
  const before = await askRegistry<WhoisAnswer>(input, "dns:whois", { fqdn: name });
  const old = await askRegistry<WhoisAnswer>(input, "dns:whois", { fqdn: `${name}@${version}` });
  if (old.code_snippet === null || old.type === "mcp-server")
    throw new PmlError("usage", `${name}@${version} is no program, so it cannot come back as a new version`, {
      hint: `It can still be used: ${name}@${version}`,
    });
  const record = await askRegistry<LookupAnswer>(input, "dns:update", {
    name,
    code: old.code_snippet,
    change_summary: `back to version ${old.version}`,
  });
  return {
    data: record,
    text: `${record.display_name} is version ${record.version}, with the source of version ${old.version}`,
    notes: [`Undo: pml restore ${record.display_name} v${before.version}`],
  };
}
