/**
 * A stdio MCP server that never stops changing: each listing has other definitions, and one more tool with a new name,
 * and it announces changes without pause. Arguments: a log with a line for each listing, the number of tools, and the
 * length of a description.
 */
import { appendFileSync } from "node:fs";
import { splitLines } from "../../src/base/lines.ts";

interface StormMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
}

const [, , log = "", count = "3", length = "10"] = process.argv;
let listings = 0;

function write(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function listTools(): object[] {
  listings += 1;
  appendFileSync(log, `${listings}\n`);
  const description = `Listing ${listings}. `.padEnd(Number(length), "x");
  const names = [...Array.from({ length: Number(count) }, (_, index) => `tool_${index}`), `fresh_${listings}`];
  return names.map((name) => ({ name, description, inputSchema: { type: "object" } }));
}

function answer({ method, params: { protocolVersion = "2025-11-25" } = {} }: StormMessage): unknown {
  if (method === "initialize") {
    const capabilities = { tools: { listChanged: true } };
    return { protocolVersion, capabilities, serverInfo: { name: "storm", version: "1.0.0" } };
  }
  if (method === "tools/list") return { tools: listTools() };
  return method === "tools/call" ? { content: [{ type: "text", text: "calm" }] } : {};
}

setInterval(() => write({ method: "notifications/tools/list_changed" }), 5);
for await (const line of splitLines(process.stdin.setEncoding("utf8"))) {
  const message = JSON.parse(line) as StormMessage;
  if (message.id !== undefined) write({ id: message.id, result: answer(message) });
}
process.exit(0);
