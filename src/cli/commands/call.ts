import type { CallToolResult } from "@modelcontextprotocol/client";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { EXIT, PmlError } from "../../errors.ts";
import { argumentOptions, readArguments } from "../arguments.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withGateway } from "../gateway-client.ts";
import type { KnownTool } from "../tool-names.ts";
import { findClosest } from "../../config/closest.ts";

export const call: Command = {
  name: "call",
  group: "Use",
  summary: "call a tool of a server",
  examples: [
    "pml call filesystem:list_directory --arg path=/tmp",
    `pml call memory:search_nodes --args-json '{"query":"x"}'`,
  ],
  args: [{ name: "<tool>", description: "server:tool, as pml tools prints it" }],
  options: [...argumentOptions, noStartOption],
  async run(input): Promise<Answer> {
    const [wanted = ""] = input.args;
    const daemon = await reachDaemon(input);
    const tool = findTool(await callDaemon<KnownTool[]>(daemon, "GET", "/api/tools"), wanted);
    const request = { name: tool.id, arguments: readArguments(input.options, tool.inputSchema) };
    const result = await withGateway(daemon, (client) => client.callTool(request));
    return { data: result, text: describe(result), exit: result.isError === true ? EXIT.toolError : EXIT.ok };
  },
};

function findTool(known: readonly KnownTool[], wanted: string): KnownTool {
  const tool = known.find(({ id, name }) => id === wanted || name === wanted);
  if (tool !== undefined) return tool;
  const closest = findClosest(
    wanted,
    known.map(({ id }) => id),
  );
  const hint = closest === undefined ? "All tools: pml tools" : `Did you mean: pml call ${closest}`;
  throw new PmlError("tool_not_found", `No tool named "${wanted}"`, { hint });
}

function describe({ content, structuredContent }: CallToolResult): string {
  const texts = content.map((block) => (block.type === "text" ? block.text : JSON.stringify(block)));
  return texts.length > 0 ? texts.join("\n") : JSON.stringify(structuredContent ?? {});
}
