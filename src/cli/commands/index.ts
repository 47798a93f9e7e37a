import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { formatPairs } from "../table.ts";

/** As the daemon tells it at /api/index. */
interface IndexStatus {
  readonly tier: string;
  readonly documents: Readonly<Record<string, number>>;
  readonly model: {
    readonly state: string;
    readonly provider?: string;
    readonly embedded: number;
    readonly waiting: number;
    readonly failure?: string;
  };
}

export const index: Command = {
  name: "index",
  group: "Look",
  summary: "what can be found, and with which evidence",
  examples: ["pml index status", "pml index status --json"],
  args: [{ name: "[what]", description: "only status so far", choices: ["status"] }],
  options: [noStartOption],
  async run(input) {
    const daemon = await reachDaemon(input);
    const status = await callDaemon<IndexStatus>(daemon, "GET", "/api/index");
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
