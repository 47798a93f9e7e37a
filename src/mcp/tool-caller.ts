import {
  type CallToolRequestParams,
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { principalOf } from "../auth/caller.ts";
import type { Logger } from "../log.ts";
import { paramHeaders } from "../upstream/param-headers.ts";
import { callOwnTool, type MadeCall } from "./call-own-tool.ts";
import { fitResult } from "./fit-result.ts";
import type { Gateway, ResolvedTool } from "./gateway.ts";
import type { Quota } from "./limits.ts";
import { createNoticeChain } from "./notices.ts";
import type { CallContext, OwnTool } from "./own-tool.ts";
import { type Relay, toToolError } from "./relay.ts";
import { type PassedMeta, traceCall } from "./trace-call.ts";
import { isQuestion, trackCall } from "./track-call.ts";

export interface ToolCallerParts {
  readonly gateway: Gateway;
  readonly relay: Relay;
  /** Places for calls that are under way. */
  readonly calls: Quota;
  /** Of the connection. */
  readonly server: Server;
}

type Server = McpServer["server"];
type Caller = Pick<CallContext, "client" | "principal">;

interface Call {
  readonly params: Omit<CallToolRequestParams, "name" | "_meta">;
  readonly meta: PassedMeta;
  readonly caller: Caller;
  readonly ctx: ServerContext;
}

export type ToolCaller = (params: CallToolRequestParams, ctx: ServerContext) => Promise<CallToolResult>;

/** The first protocol version with structured content. Versions are dates, so they compare as text. */
const STRUCTURED_SINCE = "2025-06-18";

/** Everything that happens to a call: it is found, made, recorded, and its result brought to size and form. */
export function createToolCaller({ gateway, relay, calls, server }: ToolCallerParts): ToolCaller {
  const makeCall = async (target: ResolvedTool, { params, meta, caller, ctx }: Call): Promise<MadeCall> => {
    if (target.kind === "own")
      return callOwn(server, { ...target, input: params.arguments, caller, log: gateway.log }, ctx);
    const headers = paramHeaders(target.tool.inputSchema, params.arguments);
    const result = await relay
      .pass({ target, method: "tools/call", params: { ...params, name: target.name }, meta, headers, ctx })
      .catch(toToolError);
    return { result: result as unknown as CallToolResult, whole: false };
  };
  return async ({ name, _meta, ...params }, ctx) => {
    const caller = { client: clientName(server, ctx), principal: principalOf(ctx.http?.authInfo) };
    const tracked = { name, ...caller, params, signal: ctx.mcpReq.signal };
    return traceCall("tools/call", ctx, async ({ meta, found }) => {
      const made = await trackCall(gateway, tracked, async (target) => {
        using _place = calls.take();
        found(target.server, target.name);
        return await makeCall(target, { params, meta, caller, ctx });
      });
      if (isQuestion(made.result)) return made.result;
      const fitted = await fit(gateway, made, caller);
      return server.projectCallToolResult(fitted, made.target.tool.outputSchema);
    });
  };
}

/** Brings a result to the size that its server, or the configuration, allows. */
function fit(
  { settings, results, log }: Gateway,
  { result, size, whole, target }: MadeCall & { readonly size: number; readonly target: ResolvedTool },
  { principal }: Caller,
): Promise<CallToolResult> {
  const { maxBytes, ttlSeconds } = settings.results;
  const limit =
    target.maxResultBytes === undefined
      ? { maxBytes: whole ? 0 : maxBytes, limitName: "results.maxBytes" }
      : { maxBytes: target.maxResultBytes, limitName: `pml.maxResultBytes of the server ${target.server}` };
  return fitResult(
    { result, size, tool: target.canonical, outputSchema: target.tool.outputSchema, ...limit },
    { results, principal: principal?.id, ttlSeconds, log },
  );
}

interface OwnTarget {
  readonly own: OwnTool;
  readonly input: unknown;
  readonly caller: Caller;
  readonly log: Logger;
}

async function callOwn(server: Server, { own, input, caller, log }: OwnTarget, ctx: ServerContext): Promise<MadeCall> {
  const notices = createNoticeChain(ctx);
  const context: CallContext = {
    ...caller,
    signal: ctx.mcpReq.signal,
    progress: notices.progress,
  };
  const structured = (server.getNegotiatedProtocolVersion() ?? STRUCTURED_SINCE) >= STRUCTURED_SINCE;
  const made = await callOwnTool({ tool: own, input, context, structured, log });
  await notices.sent();
  return made;
}

function clientName(server: Server, ctx: ServerContext): string | undefined {
  const envelope: Record<string, unknown> = { ...ctx.mcpReq.envelope };
  const info = envelope[CLIENT_INFO_META_KEY] as { name?: string } | undefined;
  return (info ?? server.getClientVersion())?.name;
}
