import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { EXIT, PmlError } from "../../errors.ts";
import { argumentOptions, readArguments } from "../arguments.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withGateway } from "../gateway-client.ts";
import { readCanonicalName } from "../tool-names.ts";
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
    const result = await withGateway(daemon, async (client) => {
      const tool = findTool((await client.listTools()).tools, wanted);
      return client.callTool({ name: tool.name, arguments: readArguments(input.options, tool.inputSchema) });
    });
    return { data: result, text: describe(result), exit: result.isError === true ? EXIT.toolError : EXIT.ok };
  },
};

function findTool(listed: readonly Tool[], wanted: string): Tool {
  const tool = listed.find((each) => readCanonicalName(each) === wanted || each.name === wanted);
  if (tool !== undefined) return tool;
  const closest = findClosest(wanted, listed.map(readCanonicalName));
  const hint = closest === undefined ? "All tools: pml tools" : `Did you mean: pml call ${closest}`;
  throw new PmlError("tool_not_found", `No tool named "${wanted}"`, { hint });
}

function describe({ content, structuredContent }: CallToolResult): string {
  const texts = content.map((block) => (block.type === "text" ? block.text : JSON.stringify(block)));
  return texts.length > 0 ? texts.join("\n") : JSON.stringify(structuredContent ?? {});
}
