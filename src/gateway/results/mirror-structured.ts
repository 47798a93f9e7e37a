import type { CallToolResult } from "@modelcontextprotocol/server";

/** Adds the structured content as text, for clients that read only text, unless the result has a text. */
export function mirrorStructured(result: CallToolResult): CallToolResult {
  const { structuredContent } = result;
  const content = (result.content as CallToolResult["content"] | undefined) ?? []; // the upstream server is not trusted to send it
  if (structuredContent === undefined || content.some(({ type }) => type === "text")) return result;
  return { ...result, content: [...content, { type: "text", text: JSON.stringify(structuredContent) }] };
}
