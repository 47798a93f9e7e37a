import { McpServer } from "@modelcontextprotocol/server";
import { version } from "../package-info.ts";

/** One per connection, hence cheap. It has no tools yet, and says so. */
export function createGatewayServer(): McpServer {
  const mcp = new McpServer(
    { name: "pml", title: "Procedural Memory Layer", version },
    { capabilities: { tools: {} } },
  );
  mcp.server.setRequestHandler("tools/list", () => ({ tools: [] }));
  return mcp;
}
