import type { JsonObject, JsonValue } from "../../base/json.ts";
import { findExcess } from "../../base/message-scan.ts";
import type { CallOutcome } from "../../execution/worker-bridge.ts";

/** Unwraps a tool's result for code: structured content, else parsed JSON text, else text, else the content list. */
export function unwrapResult(tool: string, result: Readonly<Record<string, unknown>>): CallOutcome {
  const content = Array.isArray(result["content"]) ? (result["content"] as readonly JsonObject[]) : [];
  if (result["isError"] === true) {
    const message = textOf(content) ?? "the tool failed without a message";
    return { ok: false, error: { name: "ToolError", code: "tool_error", message: `${tool}: ${message}` } };
  }
  const structured = result["structuredContent"] as JsonValue | undefined;
  if (structured !== undefined) return { ok: true, value: structured };
  const text = textOf(content);
  return { ok: true, value: text === undefined ? content : parseText(text) };
}

/** Undefined if any block is not text. */
function textOf(content: readonly JsonObject[]): string | undefined {
  if (content.length === 0 || content.some((block) => block["type"] !== "text")) return undefined;
  return content.map(({ text }) => (typeof text === "string" ? text : "")).join("\n");
}

/** Parses objects and arrays only: a number or a quoted word may be meant as text. */
function parseText(text: string): JsonValue {
  if (!/^\s*[{[]/.test(text) || findExcess(text) !== undefined) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
