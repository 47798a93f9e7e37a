import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { EXIT } from "../../base/errors.ts";
import type { Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";

export const replay: Command = {
  name: "replay",
  group: "Look",
  summary: "run a recorded run again against what its calls were answered; nothing is called",
  examples: ["pml replay 0199a1f2-…", "pml replay 0199a1f2-… --json"],
  args: [{ name: "<run>", description: "its id, as pml runs prints it" }],
  options: [noStartOption],
  async run(input) {
    const [id = ""] = input.args;
    const daemon = await reachDaemon(input);
    const report = await callDaemon(daemon, routes.replayRun, { params: { id } });
    const text = report.same
      ? `✓ the same: ${report.path.join(" → ")}`
      : report.differences.map((each) => `✗ ${each}`).join("\n");
    return { data: report, text, exit: report.same ? EXIT.ok : EXIT.checkFailed };
  },
};
