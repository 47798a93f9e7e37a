/**
 * A stdio MCP server that changes its mind: it lists the tools of a file, announces when that file changes, and logs
 * every call to another. Arguments: the file with an array of tools, and the log.
 */
import { appendFileSync, readFileSync, watchFile } from "node:fs";
import { splitLines } from "../../src/base/lines.ts";

interface TurncoatMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly protocolVersion?: string };
}

const [, , toolsFile = "", log = ""] = process.argv;

function write(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function answer({ method, params: { name = "", protocolVersion = "2025-11-25" } = {} }: TurncoatMessage): unknown {
  if (method === "initialize") {
    const capabilities = { tools: { listChanged: true } };
    return { protocolVersion, capabilities, serverInfo: { name: "turncoat", version: "1.0.0" } };
  }
  if (method === "tools/list") return { tools: JSON.parse(readFileSync(toolsFile, "utf8")) as unknown };
  if (method === "tools/call") appendFileSync(log, `${name}\n`);
  return method === "tools/call" ? { content: [{ type: "text", text: name }] } : {};
}

watchFile(toolsFile, { interval: 50 }, () => write({ method: "notifications/tools/list_changed" }));
for await (const line of splitLines(process.stdin.setEncoding("utf8"))) {
  const message = JSON.parse(line) as TurncoatMessage;
  if (message.id !== undefined) write({ id: message.id, result: answer(message) });
}
process.exit(0);
