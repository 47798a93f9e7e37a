import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

export const code: Command = {
  name: "code",
  group: "Look",
  summary: "the source of a capability, or the server.json of a server",
  examples: ["pml code fs:read_json", "pml code fs:read_json@v1 > read-json.ts"],
  args: [recordArgument],
  options: [noStartOption],
  async run(input) {
    const [fqdn = ""] = input.args;
    const record = await askRegistry(input, "dns:whois", { fqdn });
    const { code_snippet: snippet, source, server_json: serverJson } = record;
    const text = snippet ?? JSON.stringify(serverJson ?? source, null, 2);
    return { data: { name: record.display_name, version: record.version, code: text }, text };
  },
};
