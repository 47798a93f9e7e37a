import type { Tool } from "@modelcontextprotocol/client";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withGateway } from "../gateway-client.ts";
import type { Review } from "../reviews.ts";
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
    const reviews = await callDaemon<Review[]>(daemon, "GET", "/api/reviews");
    const listed = await withGateway(daemon, async (client) => (await client.listTools()).tools);
    const chosen = listed.filter((tool) => server === undefined || readCanonicalName(tool).startsWith(`${server}:`));
    if (input.options["asAgent"] === true) return describeForAgent(chosen);
    const changed = new Map(reviews.map((review) => [review.tool, review.state]));
    const rows = chosen.map((tool) => ({
      tool: readCanonicalName(tool),
      ...(changed.size === 0 ? {} : { changed: changed.has(readCanonicalName(tool)) ? "changed" : "" }),
      description: firstLine(tool.description),
    }));
    return {
      data: chosen.map((tool) => ({ id: readCanonicalName(tool), ...flag(changed, tool), ...tool })),
      text: rows.length === 0 ? "No tools" : formatTable(rows),
      notes: describeHeld(reviews, listed),
    };
  },
};

function flag(changed: ReadonlyMap<string, string>, tool: Tool): { changed?: string } {
  const state = changed.get(readCanonicalName(tool));
  return state === undefined ? {} : { changed: state };
}

/** Tools that changed and are not in the list are kept from agents until somebody accepts them. */
function describeHeld(reviews: readonly Review[], listed: readonly Tool[]): string[] {
  const names = new Set(listed.map(readCanonicalName));
  const held = reviews.filter(({ tool }) => !names.has(tool)).map(({ tool }) => tool);
  return held.length === 0
    ? []
    : [`Not offered until somebody accepts their change: ${held.join(", ")}. See: pml review`];
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
