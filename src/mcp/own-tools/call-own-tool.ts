import { concealed, type ErrorReport, PmlError, toErrorReport } from "../../base/errors.ts";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Logger } from "../../base/log.ts";
import type { CallContext, OwnAnswer, OwnTool } from "./own-tool.ts";
import type { SentCall } from "../../gateway/call-tool.ts";

export interface OwnCall {
  readonly tool: OwnTool;
  readonly input: unknown;
  readonly context: CallContext;
  /** Whether the client's protocol has structured content; the text says the same. */
  readonly structured: boolean;
  readonly log: Logger;
}

export interface MadeCall extends SentCall {
  /** Not to be shortened: the tool limits the size itself. */
  readonly whole: boolean;
}

/** Runs a tool of PML; converts a failure to an answer that the caller can read. */
export async function callOwnTool({ tool, input, context, structured, log }: OwnCall): Promise<MadeCall> {
  try {
    return toResult(await tool.call(input, context), structured);
  } catch (error) {
    if (context.signal.aborted) throw error;
    const report = reportFailure(error, tool.definition.name, log);
    const answer = toResult({ kind: "json", value: { error: report }, failed: true }, structured);
    return { ...answer, errorCode: report.code };
  }
}

function toResult(answer: OwnAnswer, structured: boolean): MadeCall {
  switch (answer.kind) {
    case "content": {
      const { content, failed, meta } = answer;
      return { result: { content: [...content], ...marks(failed, meta) }, whole: failed !== true };
    }
    case "value": {
      const { value, meta } = answer;
      const content = [{ type: "text" as const, text: JSON.stringify(value) }];
      return { result: { content, ...(structured ? structure(value) : {}), ...marks(undefined, meta) }, whole: false };
    }
    case "json":
    default: {
      const { value, failed } = answer;
      const content = [{ type: "text" as const, text: JSON.stringify(value) }];
      return {
        result: { content, ...(structured ? { structuredContent: value } : {}), ...marks(failed) },
        whole: false,
      };
    }
  }
}

/** Wraps a value that is no object, since structured content must be one. */
function structure(value: JsonValue): { structuredContent: Record<string, unknown> } {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return { structuredContent: isObject ? (value as JsonObject) : { result: value } };
}

function marks(failed: true | undefined, meta?: Readonly<Record<string, JsonValue>>): Partial<CallToolResult> {
  return { ...(failed === true ? { isError: true } : {}), ...(meta === undefined ? {} : { _meta: { ...meta } }) };
}

function reportFailure(error: unknown, tool: string, log: Logger): ErrorReport {
  if (error instanceof PmlError) return toErrorReport(error);
  log.error({ tool, error: error instanceof Error ? error.stack : String(error) }, "a tool of PML failed");
  const { hint: _forTheCommandLine, ...report } = toErrorReport(concealed(error));
  return report;
}
