import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { describeWhois } from "../format-record.ts";
import { drawOutline } from "../draw-graph.ts";
import { askGateway, recordArgument } from "../ask-registry.ts";

export const show: Command = {
  name: "show",
  group: "Look",
  summary: "a capability: what it does, takes and was used for",
  examples: ["pml show fs:read_json", "pml show report:sum_sales --json"],
  args: [recordArgument],
  options: [noStartOption],
  async run(input) {
    const [name = ""] = input.args;
    const daemon = await reachDaemon(input);
    const record = await askGateway(daemon, "dns:whois", { fqdn: name });
    if (record.type === "mcp-server") return { data: record, text: describeWhois(record) };
    const details = await callDaemon(daemon, routes.getCapability, { query: { name } });
    const takes = JSON.stringify(record.parameters_schema, null, 2);
    const text = [describeWhois(record), "", drawOutline(details.graph), "", `takes ${takes}`].join("\n");
    return { data: { ...record, details }, text };
  },
};
