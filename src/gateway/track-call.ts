import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Principal } from "../auth/principal.ts";
import { PmlError } from "../base/errors.ts";
import type { ToolUse } from "./usage/usage-store.ts";
import { errorCode } from "./error-code.ts";
import type { Gateway, ResolvedTool } from "../mcp/server/gateway.ts";
import { LimitReached } from "../mcp/server/principal-limits.ts";

export interface TrackedCall {
  /** As the client spelled it. */
  readonly name: string;
  readonly client: string | undefined;
  readonly principal: Principal | undefined;
  readonly params: unknown;
  readonly signal: AbortSignal;
}

export interface CallOutcome {
  readonly result: CallToolResult;
  /** Where the result is an error whose code is known. */
  readonly errorCode?: string;
}

/**
 * Finds the tool, runs the call, and records what became of it; one that stops at a question, when it is
 * over.
 */
export async function trackCall<Outcome extends CallOutcome>(
  gateway: Gateway,
  { name, client, principal, params, signal }: TrackedCall,
  run: (target: ResolvedTool) => Promise<Outcome>,
): Promise<Outcome & { readonly target: ResolvedTool; readonly size: number }> {
  const calledAt = new Date();
  const started = performance.now();
  let subject = { server: "", tool: name };
  const record = (outcome: ToolUse["outcome"], more: { responseBytes?: number; errorCode?: string }): void => {
    const figures = {
      durationMs: performance.now() - started,
      requestBytes: estimateBytes(params),
      responseBytes: 0,
      calledAt,
    };
    gateway.usage.record({ ...subject, client, principal, outcome, ...figures, ...more });
  };
  try {
    const target = await gateway.resolveTool(name, principal?.id);
    subject = { server: target.server, tool: target.name };
    const outcome = await run(target);
    const { result, errorCode: code } = outcome;
    const size = estimateBytes(result);
    if (!isQuestion(result)) {
      const more = { responseBytes: size, ...(code === undefined ? {} : { errorCode: code }) };
      record(result.isError === true ? "error" : "success", more);
    }
    return { ...outcome, target, size };
  } catch (error) {
    const refused = subject.server === "" || error instanceof LimitReached || isRefusal(error);
    record(refused ? "refused" : signal.aborted ? "cancelled" : "error", { errorCode: errorCode(error) });
    throw error;
  }
}

const REFUSALS: readonly unknown[] = ["permission_denied", "approval_required", "approval_refused"];

/** A rule or a person said no, or has not said yes yet: the call was not made. */
export function isRefusal(error: unknown): boolean {
  return error instanceof PmlError && REFUSALS.includes(error.code);
}

/** The call is not over: its server wants to know something first. */
export function isQuestion(result: CallToolResult): boolean {
  return result["resultType"] === "input_required";
}

/** Close enough for statistics, without writing megabytes out once more: the length of all strings. */
function estimateBytes(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let sum = 2;
  for (const [key, member] of Object.entries(value)) sum += key.length + estimateBytes(member);
  return sum;
}
