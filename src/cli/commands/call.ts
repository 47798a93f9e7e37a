import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { DaemonAddress } from "../../daemon/daemon-file.ts";
import { type ErrorReport, EXIT, fromErrorReport, PmlError } from "../../errors.ts";
import type { Answer, Command, OptionValues } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withGateway } from "../gateway-client.ts";
import type { Review } from "../reviews.ts";
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
  options: [
    {
      flags: "--arg <name=value...>",
      description: "an argument; it stays text unless the tool wants a number or boolean",
    },
    { flags: "--args-json <json>", description: "all arguments as one JSON object" },
    noStartOption,
  ],
  async run(input): Promise<Answer> {
    const [wanted = ""] = input.args;
    const daemon = await reachDaemon(input);
    const result = await withGateway(daemon, async (client) => {
      const { tools } = await client.listTools();
      const tool = tools.find((each) => readCanonicalName(each) === wanted || each.name === wanted);
      if (tool === undefined) throw await explainMissing(daemon, tools, wanted);
      return client.callTool({ name: tool.name, arguments: readArguments(tool, input.options) });
    });
    refuse(result);
    return { data: result, text: describe(result), exit: result.isError === true ? EXIT.toolError : EXIT.ok };
  },
};

async function explainMissing(daemon: DaemonAddress, listed: readonly Tool[], wanted: string): Promise<PmlError> {
  const reviews = await callDaemon<Review[]>(daemon, "GET", `/api/reviews?subject=${encodeURIComponent(wanted)}`);
  if (reviews.some(({ tool }) => tool === wanted)) {
    return new PmlError("tool_changed", `The definition of ${wanted} changed and nobody has accepted that`, {
      hint: `Look at it: pml review ${wanted}`,
    });
  }
  const closest = findClosest(wanted, listed.map(readCanonicalName));
  const hint = closest === undefined ? "All tools: pml tools" : `Did you mean: pml call ${closest}`;
  return new PmlError("tool_not_found", `No tool named "${wanted}"`, { hint });
}

/** What PML itself refused is an error of this command, not an answer of the tool. */
function refuse({ isError, _meta }: CallToolResult): void {
  const report = _meta?.["dev.pml/error"];
  if (isError === true && report !== undefined) throw fromErrorReport(report as ErrorReport);
}

function readArguments(tool: Tool, options: OptionValues): Record<string, unknown> {
  const fromJson = options["argsJson"] === undefined ? {} : parseObject(String(options["argsJson"]));
  const words = Array.isArray(options["arg"]) ? options["arg"] : [];
  const properties = (tool.inputSchema.properties ?? {}) as Record<string, { type?: unknown }>;
  const pairs = words.map((word): [string, unknown] => {
    const at = word.indexOf("=");
    if (at < 1)
      throw new PmlError("usage", `--arg ${word} is not name=value`, { hint: "For example: --arg path=/tmp" });
    const name = word.slice(0, at);
    return [name, convert(word.slice(at + 1), properties[name]?.type)];
  });
  return { ...fromJson, ...Object.fromEntries(pairs) };
}

/** A zip code stays text: only what the tool's schema calls a number, boolean, list or object is read as one. */
function convert(text: string, type: unknown): unknown {
  if (type === "number" || type === "integer") return Number.isNaN(Number(text)) ? text : Number(text);
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (type === "array" || type === "object") return parseJson(text) ?? text;
  return text;
}

function parseObject(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new PmlError("usage", "--args-json must be a JSON object", {
    hint: `For example: --args-json '{"path":"/tmp"}'`,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function describe({ content, structuredContent }: CallToolResult): string {
  const texts = content.map((block) => (block.type === "text" ? block.text : JSON.stringify(block)));
  return texts.length > 0 ? texts.join("\n") : JSON.stringify(structuredContent ?? {});
}
