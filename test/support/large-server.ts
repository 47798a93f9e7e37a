/** A stdio MCP server with long results; `--tools=60` gives it as many further tools. */
import { parseArgs } from "node:util";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const { values } = parseArgs({ options: { tools: { type: "string", default: "0" } } });
const mcp = new McpServer({ name: "large", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } });

const size = z.object({ count: z.number() });
/** Characters of one to four bytes, and some that JSON has to escape. */
const UNIT = 'ab"é\n😀\u2028';

mcp.registerTool("write_text", { description: "Writes a long text", inputSchema: size }, ({ count }) => ({
  content: [{ type: "text", text: UNIT.repeat(count) }],
}));

mcp.registerTool(
  "query_rows",
  {
    description: "Queries rows of a table",
    inputSchema: size,
    outputSchema: z.object({
      rows: z.array(z.object({ id: z.number(), name: z.string(), tags: z.array(z.string()) })),
      total: z.number(),
    }),
  },
  ({ count }) => {
    const rows = Array.from({ length: count }, (_, id) => ({ id, name: `row "${id}"`, tags: ["é", "x"] }));
    const structuredContent = { rows, total: count };
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  },
);

mcp.registerTool("take_picture", { description: "Takes a picture", inputSchema: size }, ({ count }) => ({
  content: [
    { type: "text", text: "a picture" },
    { type: "image", mimeType: "image/png", data: "A".repeat(count) },
  ],
}));

for (let index = 0; index < Number(values.tools); index += 1) {
  mcp.registerTool(`filler_${index}`, { description: `Fills place number ${index}` }, () => ({
    content: [{ type: "text", text: String(index) }],
  }));
}

await mcp.connect(new StdioServerTransport());
