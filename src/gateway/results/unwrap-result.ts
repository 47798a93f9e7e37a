import type { JsonValue } from "../../base/json.ts";
import type { CallOutcome } from "../../execution/worker-bridge.ts";

/** Unwraps a tool's result for code: structured content, else parsed JSON text, else text, else the content list. */
export function unwrapResult(tool: string, result: Readonly<Record<string, unknown>>): CallOutcome {
  const content = Array.isArray(result["content"]) ? (result["content"] as readonly ContentBlock[]) : [];
  if (result["isError"] === true) {
    const message = textOf(content) ?? "the tool failed without saying why";
    return { ok: false, error: { name: "ToolError", code: "tool_error", message: `${tool}: ${message}` } };
  }
  const structured = result["structuredContent"] as JsonValue | undefined;
  if (structured !== undefined) return { ok: true, value: structured };
  const text = textOf(content);
  return { ok: true, value: text === undefined ? (content as unknown as JsonValue) : parseText(text) };
}

interface ContentBlock {
  readonly type: string;
  readonly text?: string;
}

/** undefined where there is anything but text. */
function textOf(content: readonly ContentBlock[]): string | undefined {
  if (content.length === 0 || content.some(({ type }) => type !== "text")) return undefined;
  return content.map(({ text }) => text ?? "").join("\n");
}

/** Only what can be nothing but JSON: a number or a word in quotes may well be meant as text. */
function parseText(text: string): JsonValue {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
