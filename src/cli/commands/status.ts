import { routes } from "../../contract/routes.ts";
import { environment, resolveHome } from "../../config/environment.ts";
import { describeUntrusted, findUntrusted } from "../../config/untrusted-files.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { findDaemon } from "../../daemon/start-daemon.ts";
import { EXIT } from "../../base/errors.ts";
import type { Answer, Command } from "../command.ts";
import type { DaemonStatus } from "../../contract/status.ts";
import { formatPairs } from "../table.ts";

export const status: Command = {
  name: "status",
  group: "Look",
  summary: "whether the gateway runs, where, and on what",
  examples: ["pml status", "pml status --json --fields url,pid"],
  async run({ options: { config } }): Promise<Answer> {
    const home = resolveHome();
    const projectFiles = findUntrusted(process.cwd(), typeof config === "string" ? config : undefined, environment);
    const daemon = await findDaemon(home);
    if (daemon === undefined) {
      return {
        data: { running: false, home, projectFiles },
        text: `PML is not running (PML_HOME ${home})`,
        notes: ["Start it: pml up", ...projectFiles.map(describeUntrusted)],
        exit: EXIT.unreachable,
      };
    }
    const report = await callDaemon(daemon, routes.getStatus);
    const notes = [
      ...(report.changedTools > 0 ? ["Look at the changed tools: pml review"] : []),
      ...(report.droppedRules > 0 ? [describeDropped(report.droppedRules)] : []),
      ...report.loginsNeeded.map((server) => `A server wants a login: pml login ${server}`),
      ...projectFiles.map(describeUntrusted),
    ];
    return { data: { running: true, ...report, projectFiles }, text: describe(report), notes };
  },
};

function describeDropped(rules: number): string {
  return `${rules} remembered rules of an earlier release did not bind the exact text of their programs and were dropped: these ask again`;
}

function describe(report: DaemonStatus): string {
  const { pid, version, url, home, uptimeSeconds, clients, permissions, changedTools, database } = report;
  return formatPairs({
    gateway: url,
    version,
    process: `pid ${pid}, up ${uptimeSeconds} s`,
    clients: String(clients),
    ...(changedTools === 0 ? {} : { "changed tools": String(changedTools) }),
    home,
    permissions,
    database: `${database.engine} at ${database.at}, schema ${database.schemaVersion}`,
  });
}
