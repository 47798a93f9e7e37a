import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { formatTable } from "../table.ts";

/** As the daemon tells it at /api/servers. */
interface ServerRow {
  readonly name: string;
  readonly state: string;
  readonly pid?: number;
  readonly protocol?: string;
  readonly tools?: number;
  readonly lastError?: string;
  readonly changedTools: readonly unknown[];
}

export const servers: Command = {
  name: "servers",
  group: "Look",
  summary: "the MCP servers behind the gateway and how they are",
  examples: ["pml servers", "pml servers --json --fields name,state,lastError"],
  options: [noStartOption],
  async run(input): Promise<Answer> {
    const rows = await callDaemon<ServerRow[]>(await reachDaemon(input), "GET", "/api/servers");
    const table = rows.map(({ name, state, tools, protocol, ...row }) => ({
      name,
      state: state.replaceAll("_", " "),
      tools: tools === undefined ? "" : String(tools),
      protocol: protocol ?? "",
      problem: describeProblem({ name, state, ...row }),
    }));
    return { data: rows, text: rows.length === 0 ? "No servers are configured" : formatTable(table) };
  },
};

function describeProblem({ name, state, lastError, changedTools }: ServerRow): string {
  const { length } = changedTools;
  const changed = `${length} ${length === 1 ? "tool" : "tools"} changed: pml review`;
  return [
    ...(state === "ready" ? [] : [state === "login_needed" ? `pml login ${name}` : (lastError ?? "")]),
    ...(length === 0 ? [] : [changed]),
  ]
    .filter(Boolean)
    .join("; ");
}
