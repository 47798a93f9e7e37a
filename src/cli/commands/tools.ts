import type { Tool } from "@modelcontextprotocol/client";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withGateway } from "../gateway-client.ts";
import { formatTable } from "../table.ts";
import { type KnownTool, readCanonicalName } from "../tool-names.ts";

const CHARACTERS_PER_TOKEN = 4;

export const tools: Command = {
  name: "tools",
  group: "Look",
  summary: "the tools behind the gateway; with --as-agent, what an agent is shown",
  examples: ["pml tools filesystem", "pml tools --as-agent"],
  args: [{ name: "[server]", description: "only those of this server" }],
  options: [{ flags: "--as-agent", description: "names as clients get them, and what the list costs" }, noStartOption],
  async run(input): Promise<Answer> {
    const [server] = input.args;
    const daemon = await reachDaemon(input);
    const isWanted = (id: string): boolean => server === undefined || id.startsWith(`${server}:`);
    if (input.options["asAgent"] === true) {
      const listed = await withGateway(daemon, async (client) => (await client.listTools()).tools);
      return describeForAgent(listed.filter((tool) => isWanted(readCanonicalName(tool))));
    }
    const all = (await callDaemon<KnownTool[]>(daemon, "GET", "/api/tools")).filter(({ id }) => isWanted(id));
    const rows = all.map(({ id, description }) => ({ tool: id, description: firstLine(description) }));
    return { data: all, text: rows.length === 0 ? "No tools" : formatTable(rows), notes: describeHidden(all) };
  },
};

function describeHidden(all: readonly KnownTool[]): string[] {
  const hidden = all.filter(({ listed }) => !listed).length;
  if (hidden === 0) return [];
  return [`${hidden} of these are not listed to agents, who find them with pml_discover: pml tools --as-agent`];
}

function describeForAgent(listed: readonly Tool[]): Answer {
  const characters = JSON.stringify(
    listed.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  ).length;
  const tokens = Math.round(characters / CHARACTERS_PER_TOKEN);
  return {
    data: { tools: listed, characters, tokensEstimate: tokens },
    text: listed.map(({ name }) => name).join("\n"),
    notes: [`${listed.length} tools, about ${tokens} tokens (names, descriptions and input schemas)`],
  };
}

function firstLine(text: string | undefined): string {
  return (text ?? "").split("\n")[0]?.slice(0, 100) ?? "";
}
