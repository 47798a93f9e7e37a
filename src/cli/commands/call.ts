import { routes } from "../../contract/routes.ts";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { DaemonAddress } from "../../daemon/daemon-file.ts";
import { type ErrorReport, EXIT, fromErrorReport, PmlError } from "../../base/errors.ts";
import { argumentOptions, readArguments } from "../arguments.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withGateway } from "../gateway-client.ts";
import type { DescribedTool } from "../../contract/servers.ts";
import { findClosest } from "../../base/closest.ts";

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
    const known = await callDaemon(daemon, routes.listTools);
    const tool = known.find(({ id, name }) => id === wanted || name === wanted);
    if (tool === undefined) throw await explainMissing(daemon, known, wanted);
    const request = { name: tool.id, arguments: readArguments(input.options, tool.inputSchema) };
    const result = await withGateway(daemon, (client) => client.callTool(request));
    refuse(result);
    return { data: result, text: describe(result), exit: result.isError === true ? EXIT.toolError : EXIT.ok };
  },
};

async function explainMissing(
  daemon: DaemonAddress,
  known: readonly DescribedTool[],
  wanted: string,
): Promise<PmlError> {
  const reviews = await callDaemon(daemon, routes.listReviews, { query: { subject: wanted } });
  if (reviews.some(({ tool }) => tool === wanted)) {
    return new PmlError("tool_changed", `The definition of ${wanted} changed and nobody has accepted that`, {
      hint: `Look at it: pml review ${wanted}`,
    });
  }
  const closest = findClosest(
    wanted,
    known.map(({ id }) => id),
  );
  const hint = closest === undefined ? "All tools: pml tools" : `Did you mean: pml call ${closest}`;
  return new PmlError("tool_not_found", `No tool named "${wanted}"`, { hint });
}

/** Throws a refusal of PML itself: it is an error of this command, not an answer of the tool. */
function refuse({ isError, _meta }: CallToolResult): void {
  const report = _meta?.["dev.pml/error"];
  if (isError === true && report !== undefined) throw fromErrorReport(report as ErrorReport);
}

function describe({ content, structuredContent }: CallToolResult): string {
  const texts = content.map((block) => (block.type === "text" ? block.text : JSON.stringify(block)));
  return texts.length > 0 ? texts.join("\n") : JSON.stringify(structuredContent ?? {});
}
