/** A server that asks whoever calls it; with --stdio as a process of the 2025 era. */
import { inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

export function createAskingServer(): McpServer {
  const mcp = new McpServer({ name: "asking", version: "1.0.0" });
  const who = z.object({ who: z.string() });
  mcp.registerTool("ask", { description: "Asks for a word", inputSchema: who }, (input, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "answer");
    if (answer.kind === "missing") {
      const requestedSchema = z.object({ word: z.string() });
      const question = inputRequired.elicit({ message: `A word for ${input.who}?`, requestedSchema });
      return inputRequired({ inputRequests: { answer: question } });
    }
    return { content: [{ type: "text", text: `${input.who}: ${JSON.stringify(answer)}` }] };
  });
  mcp.registerTool("plain", { description: "Asks nothing" }, () => ({ content: [{ type: "text", text: "plain" }] }));
  return mcp;
}

if (process.argv.includes("--stdio")) await createAskingServer().connect(new StdioServerTransport());
