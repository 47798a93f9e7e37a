/** A server with as many tools as its argument says, in pages of a thousand. */
import { McpServer, type Tool } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const PAGE_SIZE = 1_000;
const count = Number(process.argv[2]);

const tools = Array.from({ length: count }, (_, index): Tool => ({
  name: `find_record_${index}`,
  title: `Find record ${index}`,
  description: `Finds the records of kind ${index} that a query fits, newest first, and returns them with their fields.`,
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "Words that must be in the record" },
      limit: { type: "integer", minimum: 1, maximum: 100, description: "How many at the most" },
      since: { type: "string", format: "date-time", description: "Only what changed after this moment" },
    },
    required: ["query"],
  },
}));

const { server } = new McpServer({ name: "many-tools", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler("tools/list", ({ params }) => {
  const start = Number(params?.cursor ?? 0);
  const end = start + PAGE_SIZE;
  return { tools: tools.slice(start, end), ...(end < count ? { nextCursor: String(end) } : {}) };
});
server.setRequestHandler("tools/call", () => ({ content: [] }));
await server.connect(new StdioServerTransport());
