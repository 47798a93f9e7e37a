import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { formatPairs } from "../table.ts";

export const index: Command = {
  name: "index",
  group: "Look",
  summary: "what can be found, and with which evidence",
  examples: ["pml index status", "pml index status --json"],
  args: [{ name: "[what]", description: "only status so far", choices: ["status"] }],
  options: [noStartOption],
  async run(input) {
    const daemon = await reachDaemon(input);
    const status = await callDaemon(daemon, routes.getIndex);
    const { tier, documents, model } = status;
    const counts = Object.entries(documents).map(([kind, count]) => `${count} ${kind}`);
    const pairs = {
      documents: counts.join(", "),
      ranking: tier,
      model: [model.state, model.provider].filter((text) => text !== undefined).join(", "),
      embedded: `${model.embedded}, ${model.waiting} waiting`,
      ...(model.failure === undefined ? {} : { failure: model.failure }),
    };
    return { data: status, text: formatPairs(pairs) };
  },
};
