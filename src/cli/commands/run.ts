import { routes } from "../../contract/routes.ts";
import { PmlError } from "../../base/errors.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { argumentOptions, readArguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { executeThroughGateway } from "../run-programs.ts";

export const run: Command = {
  name: "run",
  group: "Use",
  summary: "run a capability by its name",
  examples: ["pml run fs:read_json --arg path=config.json", "pml run report:sum_sales --dry-run"],
  args: [{ name: "[name]", description: "the capability", completes: "record" }],
  options: [
    { flags: "--intent <text>", description: "what it is run for" },
    ...argumentOptions,
    { flags: "--dry-run", description: "only say what would be called" },
    { flags: "--continue <run>", description: "go on with a run that waits" },
    noStartOption,
  ],
  async run(input) {
    const [name] = input.args;
    const { continue: waiting, intent = `run ${name ?? ""}`, dryRun } = input.options;
    const daemon = await reachDaemon(input);
    if (waiting !== undefined)
      return executeThroughGateway(daemon, { intent: "go on", continue_workflow: { workflow_id: waiting } });
    if (name === undefined)
      throw new PmlError("usage", "The name of a capability is missing", { hint: "For example: pml run fs:read_json" });
    const { parameters } = await callDaemon(daemon, routes.getCapability, { query: { name } });
    return executeThroughGateway(daemon, {
      intent,
      capability: name,
      args: readArguments(input.options, parameters),
      options: { dry_run: dryRun === true },
    });
  },
};
