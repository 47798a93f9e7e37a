import { isDeepStrictEqual } from "node:util";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { CallResultText } from "./kept-results.ts";

export type ResultText = Pick<CallResultText, "contentType" | "text">;

/**
 * Turns a result into one text that can be read in pages without loss: a text as it is, structured content as its
 * JSON, anything else as the JSON of the whole.
 */
export function toResultText(result: CallToolResult): ResultText {
  const { content, structuredContent, isError: _status, resultType: _kind, ...extras } = result;
  const [block, ...others] = content;
  const isOneText =
    others.length === 0 &&
    block?.type === "text" &&
    Object.keys(block).length === 2 &&
    Object.keys(extras).length === 0;
  if (isOneText && structuredContent === undefined && block.text.isWellFormed())
    return { contentType: "text/plain", text: block.text };
  if (isOneText && structuredContent !== undefined && isJsonOf(block.text, structuredContent))
    return { contentType: "application/json", text: JSON.stringify(structuredContent) };
  return { contentType: "application/json", text: JSON.stringify(result) };
}

/** Whether a text is the JSON of a value. Tries the two usual formattings first. */
export function isJsonOf(text: string, value: unknown): boolean {
  if (text === JSON.stringify(value) || text === JSON.stringify(value, null, 2)) return true;
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}
