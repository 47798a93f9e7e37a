import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withProgress } from "../progress.ts";

export const backup: Command = {
  name: "backup",
  group: "Manage",
  summary: "write a copy of the whole memory into PML_HOME/backups",
  examples: ["pml backup", "pml backup --json --fields path"],
  options: [noStartOption],
  async run(input): Promise<Answer> {
    const daemon = await reachDaemon(input);
    const result = await withProgress("Writing the backup", input.terminal.options.quiet, () =>
      callDaemon(daemon, routes.backUp),
    );
    return {
      data: result,
      text: result.path,
      notes: [`${result.rows} rows, sha256 ${result.rows_sha256}`, `Read it back: pml import ${result.path}`],
    };
  },
};
