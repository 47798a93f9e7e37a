/** An MCP server whose tool takes as long as one that uses a network. */
import { setTimeout as sleep } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const TAKES_MS = 10;

const server = new McpServer({ name: "patient", version: "1.0.0" });
server.registerTool(
  "look",
  {
    description: `Answer after ${TAKES_MS} ms.`,
    inputSchema: z.object({ message: z.string() }),
    annotations: { readOnlyHint: true },
  },
  async ({ message }) => {
    await sleep(TAKES_MS);
    return { content: [{ type: "text", text: message }] };
  },
);
await server.connect(new StdioServerTransport());
