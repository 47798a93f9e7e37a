import type { CallToolResult } from "@modelcontextprotocol/server";

/** One red pixel. */
export const PIXEL_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

/** A millisecond of silence. */
export const SILENCE_WAV = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

export function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}
