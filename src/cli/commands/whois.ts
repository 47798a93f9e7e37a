import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { describeWhois } from "../format-record.ts";
import { askRegistry, recordArgument } from "../ask-registry.ts";

export const whois: Command = {
  name: "whois",
  group: "Look",
  summary: "everything about a record",
  examples: ["pml whois fs:read_json", "pml whois local.default.fs.read_json.a1b2 --json"],
  args: [recordArgument],
  options: [noStartOption],
  async run(input) {
    const [fqdn = ""] = input.args;
    const record = await askRegistry(input, "dns:whois", { fqdn });
    return { data: record, text: describeWhois(record) };
  },
};
