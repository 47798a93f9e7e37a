import { routes } from "../../contract/routes.ts";
import { findClosest } from "../../base/closest.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { ServerRow } from "../../contract/servers.ts";
import { PmlError } from "../../base/errors.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { formatPairs, formatTable } from "../table.ts";

export const servers: Command = {
  name: "servers",
  group: "Look",
  summary: "the MCP servers behind the gateway and how they are",
  examples: ["pml servers", "pml servers filesystem"],
  args: [{ name: "[name]", description: "everything about this one: process, restarts, last error, stderr" }],
  options: [noStartOption],
  async run(input): Promise<Answer> {
    const rows = await callDaemon(await reachDaemon(input), routes.listServers);
    const [name] = input.args;
    if (name !== undefined) return describeServer(getServer(rows, name));
    const table = rows.map((row) => ({
      name: row.name,
      state: row.state.replaceAll("_", " "),
      tools: row.tools === undefined ? "" : String(row.tools),
      protocol: row.protocol ?? "",
      problem: describeProblem(row),
    }));
    return { data: rows, text: rows.length === 0 ? "No servers are configured" : formatTable(table) };
  },
};

function describeProblem({ name, state, lastError = "", changedTools, leftOut = [] }: ServerRow): string {
  const { length } = changedTools;
  const trouble = state === "login_needed" ? `pml login ${name}` : lastError;
  const changed = `${length} ${length === 1 ? "tool" : "tools"} changed: pml review`;
  const malformed = leftOut.length === 0 ? "" : `malformed entries: pml servers ${name}`;
  return [state === "ready" ? "" : trouble, length === 0 ? "" : changed, malformed].filter(Boolean).join("; ");
}

function getServer(rows: readonly ServerRow[], name: string): ServerRow {
  const row = rows.find((each) => each.name === name);
  if (row !== undefined) return row;
  const names = rows.map((each) => each.name);
  const closest = findClosest(name, names);
  throw new PmlError("server_not_found", `There is no server "${name}"`, {
    hint: closest === undefined ? `There are: ${names.join(", ")}` : `Did you mean: pml servers ${closest}`,
  });
}

function describeServer(row: ServerRow): Answer {
  const { name, state, since, pid, protocol, startMs, restarts, tools, trustHints, lastError } = row;
  const { leftOut = [], stderr = [] } = row;
  const pairs = {
    server: name,
    state: since === undefined ? state : `${state} since ${since}`,
    process: pid === undefined ? undefined : `pid ${pid}`,
    protocol,
    started: startMs === undefined ? undefined : `in ${startMs} ms`,
    restarts: restarts === undefined ? undefined : String(restarts),
    tools: tools === undefined ? undefined : String(tools),
    hints: trustHints === undefined ? undefined : trustHints ? "believed" : `not believed: pml hints ${name}`,
    "last error": lastError,
  };
  const known = Object.entries(pairs).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return {
    data: row,
    text: [
      formatPairs(Object.fromEntries(known)),
      ...leftOut.map((line) => `not offered: ${line}`),
      ...stderr.map((line) => `stderr: ${line}`),
    ].join("\n"),
    notes: [`More of what it said: pml logs ${name}`],
  };
}
