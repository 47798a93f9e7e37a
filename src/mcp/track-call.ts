import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Principal } from "../auth/principal.ts";
import type { ToolUse } from "../usage/usage-store.ts";
import { errorCode } from "./error-code.ts";
import type { Gateway, ResolvedTool } from "./gateway.ts";
import { LimitReached } from "./limits.ts";

export interface TrackedCall {
  /** As the client spelled it. */
  readonly name: string;
  readonly client: string | undefined;
  readonly principal: Principal | undefined;
  readonly params: unknown;
  readonly signal: AbortSignal;
}

/** Finds the tool, runs the call, and records what became of it; one that stops at a question, when it is over. */
export async function trackCall(
  gateway: Gateway,
  { name, client, principal, params, signal }: TrackedCall,
  run: (target: ResolvedTool) => Promise<CallToolResult>,
): Promise<CallToolResult> {
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
    const target = gateway.resolveTool(name);
    subject = { server: target.server, tool: target.name };
    const result = await run(target);
    if (!("resultType" in result) || result["resultType"] !== "input_required") {
      record(result.isError === true ? "error" : "success", { responseBytes: estimateBytes(result) });
    }
    return result;
  } catch (error) {
    const refused = subject.server === "" || error instanceof LimitReached;
    record(refused ? "refused" : signal.aborted ? "cancelled" : "error", { errorCode: errorCode(error) });
    throw error;
  }
}

/** Close enough for statistics, without writing megabytes out once more: the length of all strings. */
function estimateBytes(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  return Object.entries(value).reduce((sum, [key, item]) => sum + key.length + estimateBytes(item), 2);
}
