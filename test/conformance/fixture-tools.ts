import { setTimeout as sleep } from "node:timers/promises";
import { fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import contactSchema from "./contact-schema.json" with { type: "json" };
import { PIXEL_PNG, SILENCE_WAV, textResult } from "./fixture-content.ts";

/** Long enough for earlier messages to arrive separately. */
const STEP_MS = 50;

/** Adds tools with fixed results: one of each kind of content. */
export function addContentTools(mcp: McpServer): void {
  mcp.registerTool("test_simple_text", { description: "Returns a text" }, () =>
    textResult("This is a simple text response for testing."),
  );
  mcp.registerTool("test_image_content", { description: "Returns an image" }, () => ({
    content: [{ type: "image", data: PIXEL_PNG, mimeType: "image/png" }],
  }));
  mcp.registerTool("test_audio_content", { description: "Returns audio" }, () => ({
    content: [{ type: "audio", data: SILENCE_WAV, mimeType: "audio/wav" }],
  }));
  mcp.registerTool("test_embedded_resource", { description: "Returns an embedded resource" }, () => ({
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  }));
  mcp.registerTool("test_multiple_content_types", { description: "Returns text, an image and a resource" }, () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      { type: "image", data: PIXEL_PNG, mimeType: "image/png" },
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 }),
        },
      },
    ],
  }));
  mcp.registerTool("test_error_handling", { description: "Always fails" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
}

/** Adds tools that send notifications while they run. */
export function addReportingTools(mcp: McpServer): void {
  mcp.registerTool("test_tool_with_progress", { description: "Reports progress three times" }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      }
      await sleep(STEP_MS);
    }
    return textResult("Progress was reported");
  });
  const logged = ["Tool execution started", "Tool processing data", "Tool execution completed"];
  for (const name of ["test_tool_with_logging", "test_logging_tool"]) {
    mcp.registerTool(name, { description: "Writes three log messages" }, async ({ mcpReq }) => {
      for (const line of logged) {
        await mcpReq.log("info", line);
        await sleep(STEP_MS);
      }
      return textResult("Messages were logged");
    });
  }
}

/** Adds tools whose input schema must reach the client unchanged. */
export function addSchemaTools(mcp: McpServer): void {
  const inputSchema = fromJsonSchema(contactSchema);
  mcp.registerTool("json_schema_2020_12_tool", { description: "Has a schema of the 2020-12 draft", inputSchema }, () =>
    textResult("The input is valid"),
  );
  const mirrored = z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) });
  mcp.registerTool(
    "test_header_mirror",
    { description: "Its argument travels as a header too", inputSchema: mirrored },
    ({ region }) => textResult(`Region: ${region}`),
  );
}
