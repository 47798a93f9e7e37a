import { findClosest } from "../base/closest.ts";
import type { Catalogue, CatalogueTool } from "../catalogue/catalogue.ts";
import { parseToolId } from "../catalogue/tool-id.ts";
import { CallRefused, type CallTool, type ToolRequest } from "../execution/ports.ts";
import type { CallOutcome } from "../execution/worker-bridge.ts";
import type { UpstreamServer } from "../upstream/upstream-server.ts";
import { callTool, type CallSteps, type SentCall } from "./call-tool.ts";
import { unwrapResult } from "./results/unwrap-result.ts";
import type { UsageLog } from "./usage/usage-log.ts";
import { OWNER } from "../registry/scope.ts";

interface ToolServer extends Pick<UpstreamServer, "request"> {
  connect(): Promise<unknown>;
}

interface ProgramTarget {
  readonly tool: CatalogueTool;
  readonly upstream: ToolServer;
  readonly server: string;
  readonly name: string;
}

export interface ProgramCallParts {
  readonly catalogue: Catalogue;
  readonly findServer: (name: string) => ToolServer | undefined;
  readonly usage: Pick<UsageLog, "record">;
}

/** Calls of programs: permitted by the run's approved plan, answered with the value code works with. */
export function createProgramCalls(parts: ProgramCallParts): CallTool {
  return async (request) => {
    const { tool: name, args, runId, caller, signal } = request;
    const principalId = caller.principal === OWNER ? undefined : caller.principal;
    const call = { name, args, runId, client: caller.client, principalId, signal };
    try {
      return await callTool(call, toSteps(parts, request), parts.usage);
    } catch (error) {
      if (signal.aborted) throw error;
      return toOutcome(name, error);
    }
  };
}

function toSteps(
  parts: ProgramCallParts,
  { args, caller, signal, permit }: ToolRequest,
): CallSteps<ProgramTarget, SentCall, CallOutcome> {
  return {
    async resolve(id) {
      await settleTool(parts, id);
      return resolveTool(parts, id);
    },
    permit: ({ tool }) => permit(tool),
    async send({ upstream, name }) {
      const meta = caller.meta === undefined ? {} : { _meta: caller.meta };
      const asking = caller.ask === undefined ? {} : { ask: caller.ask };
      const params = { name, arguments: args, ...meta };
      return { result: await upstream.request({ method: "tools/call", params, signal, ...asking }) };
    },
    fit: ({ result }, { tool }) => unwrapResult(tool.id, result),
  };
}

function resolveTool({ catalogue, findServer }: ProgramCallParts, id: string): ProgramTarget {
  const tool = catalogue.findById(id);
  if (tool === undefined) throw new UnknownTool(id, catalogue);
  const { server, name } = tool;
  const upstream = findServer(server);
  if (upstream === undefined) throw new Error(`Server ${server} is not configured`);
  return { tool, upstream, server, name };
}

class UnknownTool extends Error {
  constructor(id: string, { tools }: Catalogue) {
    const known = tools.map((tool) => tool.id);
    const closest = findClosest(id, known);
    const hint = closest === undefined ? "pml_discover finds tools by intent" : `did you mean ${closest}?`;
    super(`Unknown tool ${id}; ${hint}`);
    this.name = "unknown_tool";
  }
}

/** The error a program sees of a call that was not made, or not answered. */
function toOutcome(id: string, error: unknown): CallOutcome {
  if (error instanceof CallRefused) return { ok: false, error: error.error };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UnknownTool) return { ok: false, error: { name: "ToolError", code: "unknown_tool", message } };
  return { ok: false, error: { name: "ToolError", code: "tool_unavailable", message: `${id}: ${message}` } };
}

/**
 * Waits until the server has said what the tool is now; what is known of it may be from an earlier day. A server
 * that cannot be reached says so when it is called.
 */
async function settleTool({ findServer }: ProgramCallParts, id: string): Promise<void> {
  await findServer(parseToolId(id).server)
    ?.connect()
    .catch(() => undefined);
}
