import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { EXIT, PmlError } from "../../errors.ts";
import type { Answer, Command, OptionValues } from "../command.ts";
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
    const tool = findTool(await callDaemon<KnownTool[]>(daemon, "GET", "/api/tools"), wanted);
    const request = { name: tool.id, arguments: readArguments(tool, input.options) };
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
