import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

const REGION = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    size: { type: "object", properties: { rows: { type: "integer", "x-mcp-header": "Rows" } } },
  },
} as const;

/**
 * Creates a server that returns the parts of a request that reach it: `_meta` of the call, HTTP headers, its
 * environment.
 */
export function createMirror(): McpServer {
  const mcp = new McpServer({ name: "mirror", version: "1.0.0" }, { capabilities: { tools: {} } });
  mcp.registerTool("meta", { description: "Shows _meta of the call" }, ({ mcpReq }) => show(mcpReq._meta ?? {}));
  mcp.registerTool("environment", { description: "Shows the environment of the server" }, () => show(process.env));
  mcp.registerTool("headers", { description: "Shows the HTTP headers of the call" }, ({ http }) =>
    show(Object.fromEntries(http?.req?.headers ?? [])),
  );
  mcp.registerTool(
    "regional",
    { description: "Its arguments travel as headers too", inputSchema: fromJsonSchema(REGION) },
    (_input, { http }) => show(Object.fromEntries(http?.req?.headers ?? [])),
  );
  return mcp;
}

function show(value: unknown): { content: [{ type: "text"; text: string }] } {
  return { content: [{ type: "text", text: JSON.stringify(value) }] };
}
