import { routes } from "../../contract/routes.ts";
import { isToolOf } from "../../catalogue/tool-id.ts";
import type { Tool } from "@modelcontextprotocol/client";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withGateway } from "../gateway-client.ts";
import type { DescribedTool, ReviewRow } from "../../contract/servers.ts";
import { formatTable } from "../table.ts";
import { readCanonicalName } from "../tool-names.ts";

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
    const isWanted = (id: string): boolean => server === undefined || isToolOf(id, server);
    if (input.options["asAgent"] === true) {
      const listed = await withGateway(daemon, async (client) => (await client.listTools()).tools);
      return describeForAgent(listed.filter((tool) => isWanted(readCanonicalName(tool))));
    }
    const reviews = await callDaemon(daemon, routes.listReviews);
    const changed = new Map(reviews.map((review) => [review.tool, review.state]));
    const all = (await callDaemon(daemon, routes.listTools)).filter(({ id }) => isWanted(id));
    const rows = all.map(({ id, description }) => ({
      tool: id,
      ...(changed.size === 0 ? {} : { changed: changed.has(id) ? "changed" : "" }),
      description: firstLine(description),
    }));
    return {
      data: all.map((tool) => ({ ...tool, ...flag(changed, tool) })),
      text: rows.length === 0 ? "No tools" : formatTable(rows),
      notes: [...describeHidden(all), ...describeHeld(reviews, all)],
    };
  },
};

function flag(changed: ReadonlyMap<string, string>, { id }: DescribedTool): { changed?: string } {
  const state = changed.get(id);
  return state === undefined ? {} : { changed: state };
}

/** Names the changed tools that are blocked until a person accepts them. */
function describeHeld(reviews: readonly ReviewRow[], all: readonly DescribedTool[]): string[] {
  const known = new Set(all.map(({ id }) => id));
  const held = reviews.filter(({ tool }) => !known.has(tool)).map(({ tool }) => tool);
  return held.length === 0
    ? []
    : [`Not offered until somebody accepts their change: ${held.join(", ")}. See: pml review`];
}

function describeHidden(all: readonly DescribedTool[]): string[] {
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
