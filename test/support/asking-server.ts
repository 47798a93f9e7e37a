/**
 * A server that asks its callers questions. As a process with --stdio it speaks both eras, with --legacy that of 2025.
 */
import { inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
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
  mcp.registerTool("keep", { description: "Asks, and lets the caller keep its state" }, ({ mcpReq }) => {
    if (inputResponse(mcpReq.inputResponses, "answer").kind !== "missing")
      return { content: [{ type: "text", text: "kept" }] };
    const question = inputRequired.elicit({ message: "Really?", requestedSchema: z.object({ word: z.string() }) });
    return inputRequired({ inputRequests: { answer: question }, requestState: "begun" });
  });
  mcp.registerTool("visit", { description: "Sends to a page" }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "answer");
    if (answer.kind === "missing") {
      const question = inputRequired.elicitUrl({ message: "Look at this", url: "https://example.com/page" });
      return inputRequired({ inputRequests: { answer: question } });
    }
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  });
  mcp.registerTool("sample", { description: "Asks the client's model" }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "answer");
    if (answer.kind === "missing") {
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Say something" } }];
      return inputRequired({ inputRequests: { answer: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
    }
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  });
  mcp.registerTool("plain", { description: "Asks nothing" }, () => ({ content: [{ type: "text", text: "plain" }] }));
  return mcp;
}

if (process.argv.includes("--legacy")) await createAskingServer().connect(new StdioServerTransport());
else if (process.argv.includes("--stdio")) serveStdio(createAskingServer);
