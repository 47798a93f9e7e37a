import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { PmlError } from "../../base/errors.ts";
import type { Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { askGateway, recordArgument } from "../ask-registry.ts";

export const alias: Command = {
  name: "alias",
  group: "Manage",
  summary: "names that lead to a capability besides its own",
  examples: ["pml alias ls fs:read_json", "pml alias retire fs:read_json fs:read"],
  args: [
    { name: "<action>", description: "what to do", choices: ["ls", "add", "retire"] },
    recordArgument,
    { name: "[alias]", description: "the other name; for add and retire" },
  ],
  options: [noStartOption],
  async run(input) {
    const [action = "ls", name = "", other] = input.args;
    const daemon = await reachDaemon(input);
    if (action === "ls") {
      const { aliases } = await askGateway(daemon, "dns:whois", { fqdn: name });
      return { data: aliases, text: aliases.length === 0 ? "It has no other names" : aliases.join("\n") };
    }
    if (other === undefined)
      throw new PmlError("usage", "The other name is missing", {
        hint: `For example: pml alias ${action} ${name} fs:read`,
      });
    const route = action === "add" ? routes.addAlias : routes.retireAlias;
    const record = await callDaemon(daemon, route, { body: { name, alias: other } });
    const [done, undo] = action === "add" ? ["leads to", "retire"] : ["does not lead any more to", "add"];
    return {
      data: record,
      text: `${other} ${done} ${record.displayName}`,
      notes: [`Undo: pml alias ${undo} ${record.displayName} ${other}`],
    };
  },
};
