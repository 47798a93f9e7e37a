import {
  type CallToolRequestParams,
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { principalOf } from "../auth/caller.ts";
import { OWNER } from "../registry/scope.ts";
import type { JsonObject } from "../base/json.ts";
import { paramHeaders } from "../upstream/connection/param-headers.ts";
import { callOwnTool, type MadeCall } from "../mcp/own-tools/call-own-tool.ts";
import { fitResult } from "./results/fit-result.ts";
import { mirrorStructured } from "./results/mirror-structured.ts";
import { CapabilityRefused } from "../mcp/server/capability-calls.ts";
import type { Gateway, ResolvedTool } from "../mcp/server/gateway.ts";
import type { Quota } from "../mcp/server/principal-limits.ts";
import type { CallContext } from "../mcp/own-tools/own-tool.ts";
import { type Relay, type RelayRequest, toRefusal, toToolError } from "../mcp/relay.ts";
import { type CallTrace, traceCall } from "./trace-call.ts";
import { isQuestion, isRefusal, trackCall } from "./track-call.ts";

export interface ToolCallerParts {
  readonly gateway: Gateway;
  readonly relay: Relay;
  /** Calls this connection may have under way. */
  readonly calls: Quota;
  /** Of the connection. */
  readonly server: Server;
}

type Server = McpServer["server"];

export type ToolCaller = (params: CallToolRequestParams, ctx: ServerContext) => Promise<CallToolResult>;

/** The first protocol version with structured content. Versions are dates, so they compare as text. */
const STRUCTURED_SINCE = "2025-06-18";

interface Call {
  readonly params: Omit<CallToolRequestParams, "name" | "_meta">;
  readonly ctx: ServerContext;
  readonly trace: CallTrace;
}

/** Everything that happens to a call: it is found, made, recorded, and its result brought to size and form. */
export function createToolCaller(parts: ToolCallerParts): ToolCaller {
  const { gateway, calls, server } = parts;
  return ({ name, _meta, ...params }, ctx) =>
    traceCall("tools/call", ctx, async (trace) => {
      const caller = { client: clientName(server, ctx), principal: principalOf(ctx.http?.authInfo) };
      const made = await trackCall(gateway, { name, ...caller, params, signal: ctx.mcpReq.signal }, async (target) => {
        using _place = calls.take();
        trace.found(target.server, target.name);
        const call = { params, ctx, trace };
        // awaited here, or the place would be free again at once
        return await (target.kind === "own" ? callOwn(parts, target, call) : passOn(parts, target, call));
      });
      const { result, size, whole, target } = made;
      if (isQuestion(result)) return result;
      const { maxBytes, ttlSeconds } = gateway.settings.results;
      const { outputSchema } = target.tool;
      const limit =
        target.maxResultBytes === undefined
          ? { maxBytes: whole ? 0 : maxBytes, limitName: "results.maxBytes" }
          : { maxBytes: target.maxResultBytes, limitName: `pml.maxResultBytes of the server ${target.server}` };
      const fitted = await fitResult(
        { result, size, tool: target.canonical, outputSchema, ...limit },
        { results: gateway.results, principal: caller.principal?.id, ttlSeconds, log: gateway.log },
      );
      return server.projectCallToolResult(mirrorStructured(fitted), outputSchema);
    }).catch((error: unknown) => {
      if (!(error instanceof CapabilityRefused)) return toRefusal(error) as CallToolResult;
      return { content: [{ type: "text", text: error.message }], isError: true };
    });
}

type Target<Kind extends ResolvedTool["kind"]> = Extract<ResolvedTool, { kind: Kind }>;

async function passOn(
  { gateway, relay, server }: ToolCallerParts,
  target: Target<"upstream">,
  { params, ctx, trace }: Call,
): Promise<MadeCall> {
  const headers = paramHeaders(target.tool.inputSchema, params.arguments);
  const permit: RelayRequest["permit"] = ({ wasAsked, ...asking }) =>
    gateway.permitCall({
      tool: target.canonical,
      definition: target.tool,
      args: (params.arguments ?? {}) as JsonObject,
      caller: { principal: principalOf(ctx.http?.authInfo)?.id ?? OWNER, client: clientName(server, ctx), ...asking },
      wasAsked,
    });
  const result = await relay
    .pass({
      target,
      method: "tools/call",
      params: { ...params, name: target.name },
      meta: trace.meta,
      headers,
      permit,
      ctx,
    })
    .catch((error: unknown) => {
      if (isRefusal(error)) throw error;
      return toToolError(error);
    });
  return { result: result as unknown as CallToolResult, whole: false };
}

/** A tool of PML may stop to ask a person, as one of a server may. */
async function callOwn(
  { gateway, relay, server }: ToolCallerParts,
  { own }: Target<"own">,
  { params, ctx, trace }: Call,
): Promise<MadeCall> {
  const principal = principalOf(ctx.http?.authInfo);
  await gateway.usage.introduce(principal);
  const structured = (server.getNegotiatedProtocolVersion() ?? STRUCTURED_SINCE) >= STRUCTURED_SINCE;
  const outcome = await relay.passOwn(ctx, async (run) => {
    const context: CallContext = {
      ...run,
      client: clientName(server, ctx),
      principal: principal?.id,
      meta: trace.meta._meta,
    };
    return { ...(await callOwnTool({ tool: own, input: params.arguments, context, structured, log: gateway.log })) };
  });
  if (outcome.kind === "question") return { result: outcome.result as unknown as CallToolResult, whole: true };
  return outcome.result as unknown as MadeCall;
}

function clientName(server: Server, ctx: ServerContext): string | undefined {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  const info = envelope?.[CLIENT_INFO_META_KEY] as { name?: unknown } | undefined;
  const name = (info ?? server.getClientVersion())?.name;
  return typeof name === "string" ? name : undefined; // in the envelope it may be anything
}
