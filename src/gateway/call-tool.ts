import type { CallTool, SettleTool } from "../execution/ports.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { UsageLog } from "./usage/usage-log.ts";

/** Calls of programs go the way of all calls: through the server's queue, and into the record of uses. */
export function createCallTool(upstreams: Upstreams, usage: UsageLog): CallTool {
  return async ({ tool, args, runId, caller, signal }) => {
    const colon = tool.indexOf(":");
    const [server, name] = [tool.slice(0, colon), tool.slice(colon + 1)];
    const calledAt = new Date();
    const started = performance.now();
    const record = (outcome: "success" | "error" | "cancelled", responseBytes: number): void =>
      usage.record({
        server,
        tool: name,
        client: caller.client,
        runId,
        outcome,
        durationMs: performance.now() - started,
        requestBytes: JSON.stringify(args).length,
        responseBytes,
        calledAt,
      });
    const upstream = upstreams.findServer(server);
    if (upstream === undefined) throw new Error(`Server ${server} is not configured`);
    try {
      const result = await upstream.request({
        method: "tools/call",
        params: { name, arguments: args, ...(caller.meta === undefined ? {} : { _meta: caller.meta }) },
        signal,
        ...(caller.ask === undefined ? {} : { ask: caller.ask }),
      });
      record(result["isError"] === true ? "error" : "success", JSON.stringify(result).length);
      return result;
    } catch (error) {
      record(signal.aborted ? "cancelled" : "error", 0);
      throw error;
    }
  };
}

/** A server that cannot be reached says so when it is called. */
export function createSettleTool(upstreams: Upstreams): SettleTool {
  return async (tool) => {
    const upstream = upstreams.findServer(tool.slice(0, tool.indexOf(":")));
    await upstream?.connect().catch(() => undefined);
  };
}
