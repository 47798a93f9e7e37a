/**
 * One server of the world over stdio: `node server.ts <name> <file>`. Its state is the file, read and written with each
 * call, so that a benchmark can reset and compare it without a tool.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { ServerName, WorldState } from "./entities.ts";
import { describeFailure, isServerName, type ServerTool, toolsOfServer } from "./world.ts";

const [name = "", file = ""] = process.argv.slice(2);
if (!isServerName(name) || file === "") throw new Error("usage: server.ts <name> <file>");

const server = new McpServer({ name, version: "1.0.0" });

function callTool({ effect, run }: ServerTool, input: unknown) {
  try {
    const state = JSON.parse(readFileSync(file, "utf8")) as WorldState[ServerName];
    const structuredContent = run(state, input);
    if (effect !== "read") writeFileSync(file, JSON.stringify(state));
    return { content: [{ type: "text" as const, text: JSON.stringify(structuredContent) }], structuredContent };
  } catch (error) {
    const text = describeFailure(error);
    if (text === undefined) throw error;
    return { content: [{ type: "text" as const, text }], isError: true };
  }
}

for (const tool of toolsOfServer(name)) {
  const { description, input: inputSchema, output: outputSchema, effect } = tool;
  const annotations =
    effect === "read" ? { readOnlyHint: true } : { readOnlyHint: false, destructiveHint: effect === "destroy" };
  server.registerTool(tool.name, { description, inputSchema, outputSchema, annotations }, (input) =>
    callTool(tool, input),
  );
}

await server.connect(new StdioServerTransport());
