import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { PIXEL_PNG } from "./fixture-content.ts";

export function addResources(mcp: McpServer): void {
  const text = { description: "A text", mimeType: "text/plain" };
  mcp.registerResource("static-text", "test://static-text", text, ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "This is the content of the static text resource." }],
  }));
  const image = { description: "An image", mimeType: "image/png" };
  mcp.registerResource("static-binary", "test://static-binary", image, ({ href }) => ({
    contents: [{ uri: href, mimeType: "image/png", blob: PIXEL_PNG }],
  }));
  const watched = { description: "Can be subscribed to", mimeType: "text/plain" };
  mcp.registerResource("watched-resource", "test://watched-resource", watched, ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "This resource is watched." }],
  }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  const data = { description: "Data by id", mimeType: "application/json" };
  mcp.registerResource("template", template, data, ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: "application/json",
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }));
  // Only the 2025 era subscribes to single resources; the SDK has no handler for it.
  mcp.server.setRequestHandler("resources/subscribe", () => ({}));
  mcp.server.setRequestHandler("resources/unsubscribe", () => ({}));
}
