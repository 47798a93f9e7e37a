import { PmlError } from "../../base/errors.ts";
import type { Answer, Command, Input } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { askRegistry, askVersions, recordArgument } from "../ask-registry.ts";

export const restore: Command = {
  name: "restore",
  group: "Manage",
  summary: "bring back what was archived or deleted, or an old version",
  examples: ["pml restore fs:read_json", "pml restore fs:read_json 1"],
  args: [recordArgument, { name: "[version]", description: "1, v1.2.0, a date: becomes the newest version" }],
  options: [noStartOption],
  async run(input) {
    const [name = "", version] = input.args;
    if (version !== undefined) return restoreVersion(input, name, version);
    const record = await askRegistry(input, "learn:restore", { name });
    return {
      data: record,
      text: `Restored ${record.display_name}`,
      notes: [`Undo: pml archive ${record.display_name}`],
    };
  },
};

/** Adds a version with the old source; versions themselves never change. */
async function restoreVersion(input: Input, name: string, wanted: string): Promise<Answer> {
  const { display_name: current, version: before } = await askRegistry(input, "dns:lookup", { name });
  const old = await findVersion(input, name, wanted);
  if (old.code === null)
    throw new PmlError("usage", `Version ${wanted} of ${name} is no program, so it cannot come back as a new version`);
  const record = await askRegistry(input, "dns:update", {
    name,
    code: old.code,
    change_summary: `back to version ${old.version}`,
  });
  return {
    data: record,
    text: `${current} is version ${record.version}, with the source of version ${old.version}`,
    notes: [`Undo: pml restore ${current} ${before}`],
  };
}

/** Finds a version; a bare number is that version, whatever the tags are. */
async function findVersion(
  input: Input,
  name: string,
  wanted: string,
): Promise<{ version: number | string; code: string | null }> {
  if (/^\d+$/.test(wanted)) {
    const versions = await askVersions(input, name);
    const found = versions.find(({ version }) => String(version) === wanted);
    if (found !== undefined) return { version: found.version, code: found.code_snippet };
  }
  const { version, code_snippet: code } = await askRegistry(input, "dns:whois", {
    fqdn: `${name}@${wanted}`,
  });
  return { version, code };
}
