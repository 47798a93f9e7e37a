import {
  type CallToolRequestParams,
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Logger } from "../log.ts";
import { callOwnTool, type MadeCall } from "./call-own-tool.ts";
import { fitResult } from "./fit-result.ts";
import type { Gateway, ResolvedTool } from "./gateway.ts";
import { createNoticeChain } from "./notices.ts";
import type { CallContext, OwnTool } from "./own-tool.ts";
import { type Relay, toToolError } from "./relay.ts";
import { isQuestion, trackCall } from "./track-call.ts";

export interface ToolCallerParts {
  readonly gateway: Gateway;
  readonly relay: Relay;
  /** Of the connection. */
  readonly server: Server;
}

type Server = McpServer["server"];
type CallParams = Omit<CallToolRequestParams, "name" | "_meta">;

export type ToolCaller = (params: CallToolRequestParams, ctx: ServerContext) => Promise<CallToolResult>;

/** The first protocol version with structured content. Versions are dates, so they compare as text. */
const STRUCTURED_SINCE = "2025-06-18";

/** Everything that happens to a call: it is found, made, recorded, and its result brought to size and form. */
export function createToolCaller({ gateway, relay, server }: ToolCallerParts): ToolCaller {
  const makeCall = async (target: ResolvedTool, params: CallParams, ctx: ServerContext): Promise<MadeCall> => {
    if (target.kind === "own") return callOwn(server, { ...target, input: params.arguments, log: gateway.log }, ctx);
    const result = await relay
      .pass({ target, method: "tools/call", params: { ...params, name: target.name }, ctx })
      .catch(toToolError);
    return { result: result as unknown as CallToolResult, whole: false };
  };
  return async ({ name, _meta, ...params }, ctx) => {
    const call = { name, client: clientName(server, ctx), params, signal: ctx.mcpReq.signal };
    const made = await trackCall(gateway, call, (target) => makeCall(target, params, ctx));
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
      { results: gateway.results, ttlSeconds, log: gateway.log },
    );
    return server.projectCallToolResult(fitted, outputSchema);
  };
}

interface OwnTarget {
  readonly own: OwnTool;
  readonly input: unknown;
  readonly log: Logger;
}

async function callOwn(server: Server, { own, input, log }: OwnTarget, ctx: ServerContext): Promise<MadeCall> {
  const notices = createNoticeChain(ctx);
  const context: CallContext = {
    client: clientName(server, ctx),
    principal: ctx.http?.authInfo?.clientId,
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
