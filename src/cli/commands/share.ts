import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { type Visibility, VISIBILITIES } from "../../registry/record-words.ts";
import { recordArgument } from "../ask-registry.ts";
import { reachAsPerson } from "../as-person.ts";
import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";

export const share: Command = {
  name: "share",
  group: "Manage",
  summary: "say who sees a capability: its author, the project, the organisation, or everybody",
  examples: ["pml share fs:read_json org", "pml share fs:read_json private"],
  args: [recordArgument, { name: "<who>", description: "who sees it", choices: VISIBILITIES }],
  options: [noStartOption],
  async run(input) {
    const [name = "", who] = input.args;
    const body = { name, visibility: who as Visibility };
    const record = await callDaemon(await reachAsPerson(input), routes.shareRecord, { body });
    return {
      data: record,
      text: `${record.displayName} is ${record.visibility}`,
      notes: record.visibility === "private" ? [] : [`Undo: pml share ${record.displayName} private`],
    };
  },
};
