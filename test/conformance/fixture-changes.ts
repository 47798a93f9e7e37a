import type { McpServer } from "@modelcontextprotocol/server";
import { textResult } from "./fixture-content.ts";

/** Adds tools that change a list visibly: each removes an entry and adds it again. */
export function addChangeTools(mcp: McpServer): void {
  const tool = mcp.registerTool("test_changing_tool", { description: "Comes and goes" }, () => textResult("Here"));
  const prompt = mcp.registerPrompt("test_changing_prompt", { description: "Comes and goes" }, () => ({
    messages: [{ role: "user", content: { type: "text", text: "Here" } }],
  }));
  mcp.registerTool("test_trigger_tool_change", { description: "Changes the list of tools" }, () => {
    tool.update({ enabled: !tool.enabled });
    return textResult("The list of tools changed");
  });
  mcp.registerTool("test_trigger_prompt_change", { description: "Changes the list of prompts" }, () => {
    prompt.update({ enabled: !prompt.enabled });
    return textResult("The list of prompts changed");
  });
  mcp.registerTool("test_trigger_resource_change", { description: "Changes the watched resource" }, async () => {
    await mcp.server.sendResourceUpdated({ uri: "test://watched-resource" });
    return textResult("The resource changed");
  });
}
