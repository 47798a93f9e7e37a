import { routes } from "../../contract/routes.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { DaemonAddress } from "../../daemon/daemon-file.ts";
import type { Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import type { RunRow } from "../../contract/runs.ts";
import type { Sent } from "../../contract/wire.ts";
import { formatLine, formatTable } from "../table.ts";
import type { Terminal } from "../terminal.ts";

const FOLLOW_EVERY_MS = 1_000;

export const runs: Command = {
  name: "runs",
  group: "Look",
  summary: "what was run, the newest first",
  examples: ["pml runs --failed", "pml runs --follow --json"],
  options: [
    { flags: "--failed", description: "only those that failed" },
    { flags: "--limit <number>", description: "how many", parse: Number },
    { flags: "--follow", description: "keep printing new ones, one a line" },
    noStartOption,
  ],
  async run(input) {
    const { failed, limit = 20, follow } = input.options;
    const query = { limit: Number(limit), ...(failed === true ? { state: "failed" as const } : {}) };
    const daemon = await reachDaemon(input);
    if (follow === true) return followRuns(daemon, query, input.terminal);
    const rows = await callDaemon(daemon, routes.listRuns, { query });
    return { data: rows, text: rows.length === 0 ? "Nothing was run yet" : formatTable(rows.map(toRow)) };
  },
};

async function followRuns(
  daemon: DaemonAddress,
  query: Sent<typeof routes.listRuns.query>,
  terminal: Terminal,
): Promise<undefined> {
  const printed = new Set<string>();
  for (;;) {
    const rows = await callDaemon(daemon, routes.listRuns, { query });
    for (const row of rows.toReversed()) {
      const key = `${row.id} ${row.state}`;
      if (printed.has(key)) continue;
      printed.add(key);
      terminal.print(terminal.options.json ? JSON.stringify(row) : formatLine(toRow(row)));
    }
    await sleep(FOLLOW_EVERY_MS);
  }
}

function toRow({
  id,
  state,
  capabilityName,
  intent,
  startedMs,
  createdAt,
  finishedAt,
}: RunRow): Record<string, string> {
  const ms = finishedAt === undefined ? "" : String(Date.parse(finishedAt) - startedMs);
  return { run: id, state, ms, capability: capabilityName, intent: intent.slice(0, 60), at: createdAt };
}
