/** UTCP code-mode as agents use it: a tool of an MCP server over stdio. UTCP's own server for that is not on npm. */
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { openUtcp } from "./utcp.mjs";

const [prefix, command, ...args] = process.argv.slice(2);
const { run } = await openUtcp(prefix, command, args);

const server = new Server({ name: "utcp", version: "1.0.0" }, { capabilities: { tools: {} } });
const inputSchema = { type: "object", properties: { code: { type: "string" } }, required: ["code"] };
server.setRequestHandler("tools/list", () => ({ tools: [{ name: "call_tool_chain", inputSchema }] }));
server.setRequestHandler("tools/call", async ({ params }) => {
  const result = await run(params.arguments.code);
  return { content: [{ type: "text", text: JSON.stringify(result) }] };
});
await server.connect(new StdioServerTransport());
