import { type ErrorReport, PmlError, toErrorReport } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { CallContext, OwnAnswer, OwnTool } from "./own-tool.ts";
import type { CallOutcome } from "./track-call.ts";

export interface OwnCall {
  readonly tool: OwnTool;
  readonly input: unknown;
  readonly context: CallContext;
  /** Whether the client's protocol has structured content; the text says the same. */
  readonly structured: boolean;
  readonly log: Logger;
}

export interface MadeCall extends CallOutcome {
  /** To be handed over as it is: whoever made it has seen to its size. */
  readonly whole: boolean;
}

/** Runs a tool of PML. Whatever goes wrong in it is an answer that the caller can read. */
export async function callOwnTool({ tool, input, context, structured, log }: OwnCall): Promise<MadeCall> {
  try {
    return toResult(await tool.call(input, context), structured);
  } catch (error) {
    if (context.signal.aborted) throw error;
    const report = reportFailure(error, tool.definition.name, log);
    const answer = toResult({ kind: "json", value: { error: report }, failed: true }, structured);
    return { ...answer, failure: report.code };
  }
}

function toResult(answer: OwnAnswer, structured: boolean): MadeCall {
  if (answer.kind === "content") return { result: { content: [...answer.content] }, whole: true };
  const { value, failed } = answer;
  return {
    result: {
      content: [{ type: "text", text: JSON.stringify(value) }],
      ...(structured ? { structuredContent: value } : {}),
      ...(failed === true ? { isError: true } : {}),
    },
    whole: false,
  };
}

function reportFailure(error: unknown, tool: string, log: Logger): ErrorReport {
  if (error instanceof PmlError) return toErrorReport(error);
  log.error({ tool, error: error instanceof Error ? error.stack : String(error) }, "a tool of PML failed");
  const { hint: _forTheCommandLine, ...report } = toErrorReport(error);
  return report;
}
