import {
  type CallToolRequestParams,
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { principalOf } from "../../auth/caller.ts";
import type { Principal } from "../../auth/principal.ts";
import type { JsonObject } from "../../base/json.ts";
import { callTool, type CallSteps, isQuestion } from "../../gateway/call-tool.ts";
import { errorCode } from "../../gateway/error-code.ts";
import { fitResult } from "../../gateway/results/fit-result.ts";
import { mirrorStructured } from "../../gateway/results/mirror-structured.ts";
import { OWNER } from "../../registry/scope.ts";
import { hideProse } from "../../secrets/hide-prose.ts";
import { RunSecrets } from "../../secrets/run-secrets.ts";
import { paramHeaders } from "../../upstream/connection/param-headers.ts";
import { callOwnTool, type MadeCall } from "../own-tools/call-own-tool.ts";
import type { CallContext } from "../own-tools/own-tool.ts";
import { type ClientLink, type Relay, toRefusal, toToolError } from "../relay.ts";
import { CapabilityRefused } from "./capability-calls.ts";
import type { ConnectionForms } from "./connection-forms.ts";
import type { Gateway } from "./gateway.ts";
import type { ResolvedTool } from "./resolve-names.ts";
import type { Quota } from "./principal-limits.ts";
import { type CallTrace, traceCall } from "./trace-call.ts";

export interface ToolCallerParts {
  readonly gateway: Gateway;
  readonly relay: Relay;
  /** Absent where no form of this connection counts. */
  readonly forms: ConnectionForms | undefined;
  /** Calls this connection may have under way. */
  readonly calls: Quota;
  /** The connection's protocol server. */
  readonly server: Server;
}

type Server = McpServer["server"];

export type ToolCaller = (params: CallToolRequestParams, ctx: ServerContext) => Promise<CallToolResult>;

/** The first protocol version with structured content. Versions are dates, so they compare as text. */
const STRUCTURED_SINCE = "2025-06-18";

/** A call that an agent makes itself, and the connection it came by. */
interface AgentCall {
  readonly params: Omit<CallToolRequestParams, "name" | "_meta">;
  readonly client: string | undefined;
  readonly principal: Principal | undefined;
  readonly link: ClientLink;
  readonly trace: CallTrace;
  /** Released when the call is over. */
  readonly places: DisposableStack;
}

/** Calls that agents make themselves: permitted by written rules, answered within the limits of clients. */
export function createToolCaller(parts: ToolCallerParts): ToolCaller {
  const { gateway, relay, server } = parts;
  return ({ name, _meta, ...params }, ctx) =>
    traceCall("tools/call", ctx, async (trace) => {
      const client = clientName(server, ctx);
      gateway.clients.note(client, ctx.http === undefined ? "stdio" : "http");
      const principal = principalOf(ctx.http?.authInfo);
      const answer = await relay.exchange(ctx, async (link) => {
        using places = new DisposableStack();
        const steps = createSteps(parts, { params, client, principal, link, trace, places });
        const call = { name, args: params.arguments, client, principal, signal: link.signal };
        return await callTool(call, steps, gateway.usage);
      });
      return answer as CallToolResult;
    }).catch((error: unknown) => {
      if (!(error instanceof CapabilityRefused)) return toRefusal(error) as CallToolResult;
      return { content: [{ type: "text", text: error.message }], isError: true };
    });
}

function createSteps(
  parts: ToolCallerParts,
  call: AgentCall,
): CallSteps<ResolvedTool, MadeCall, Readonly<Record<string, unknown>>> {
  return {
    async resolve(name) {
      const target = await parts.gateway.names.resolveTool(name, call.principal?.id);
      call.trace.found(target.server, target.name);
      return target;
    },
    async permit(target) {
      call.places.use(parts.calls.take());
      if (target.kind === "upstream") await permitUpstream(parts, target, call);
    },
    send: (target) => (target.kind === "own" ? sendOwn(parts, target, call) : sendUpstream(parts, target, call)),
    fit: (made, target, size) => fitAnswer(parts, { ...made, size, target, call }),
  };
}

type TargetOf<Kind extends ResolvedTool["kind"]> = Extract<ResolvedTool, { kind: Kind }>;

/** Leaves out the form of a client that nobody allowed to approve by one. */
function formOf({ forms }: ToolCallerParts, { client, link }: AgentCall): Pick<CallContext, "form"> {
  return link.ask === undefined || forms?.count(client) !== true ? {} : { form: link.ask };
}

/** Judges the tool as its server defines it now: the definition that was found may be from an earlier day. */
async function permitUpstream(parts: ToolCallerParts, target: TargetOf<"upstream">, call: AgentCall): Promise<void> {
  const { params, client, principal } = call;
  await target.upstream.connect().catch(() => undefined); // the call itself reports it
  await parts.gateway.permitCall({
    tool: parts.gateway.names.resolveUpstream(target.id),
    args: (params.arguments ?? {}) as JsonObject,
    caller: { principal: principal?.id ?? OWNER, client, ...formOf(parts, call) },
    wasAsked: parts.relay.wasAsked(toRequest(target, call), call.link.ctx),
  });
}

async function sendUpstream(
  { relay }: ToolCallerParts,
  target: TargetOf<"upstream">,
  call: AgentCall,
): Promise<MadeCall> {
  try {
    return { result: await relay.send(toRequest(target, call), call.link), whole: false };
  } catch (error) {
    return { result: toToolError(error), errorCode: errorCode(error), whole: false };
  }
}

function toRequest(target: TargetOf<"upstream">, { params, trace }: AgentCall): Parameters<Relay["send"]>[0] {
  const headers = paramHeaders(target.definition.inputSchema, params.arguments);
  return { target, method: "tools/call", params: { ...params, name: target.name }, meta: trace.meta, headers };
}

/** A tool of PML may stop to ask a person, as one of a server may. */
async function sendOwn(parts: ToolCallerParts, { own }: TargetOf<"own">, call: AgentCall): Promise<MadeCall> {
  const { gateway, server } = parts;
  const { params, client, principal, link, trace } = call;
  await gateway.usage.introduce(principal);
  const structured = (server.getNegotiatedProtocolVersion() ?? STRUCTURED_SINCE) >= STRUCTURED_SINCE;
  const { signal, notices, ask, sample } = link;
  const context = {
    client,
    principal: principal?.id,
    admin: principal?.admin,
    signal,
    progress: notices.progress,
    ...(ask === undefined ? {} : { ask }),
    ...formOf(parts, call),
    ...(sample === undefined ? {} : { sample }),
    meta: trace.meta._meta,
  };
  return callOwnTool({
    tool: own,
    input: hideProse(gateway.secrets, params.arguments),
    context,
    structured,
    log: gateway.log,
  });
}

interface Made extends MadeCall {
  readonly size: number;
  readonly target: ResolvedTool;
  readonly call: AgentCall;
}

async function fitAnswer(
  { gateway, server }: ToolCallerParts,
  { result, whole, size, target, call: { params, principal } }: Made,
): Promise<Readonly<Record<string, unknown>>> {
  if (isQuestion(result)) return result;
  const { maxBytes, ttlSeconds } = gateway.settings.results;
  const { outputSchema } = target.definition;
  const limit =
    target.maxResultBytes === undefined
      ? { maxBytes: whole ? 0 : maxBytes, limitName: "results.maxBytes" }
      : { maxBytes: target.maxResultBytes, limitName: `pml.maxResultBytes of the server ${target.server}` };
  const fitted = await fitResult(
    { result: result as CallToolResult, size, tool: target.id, outputSchema, ...limit },
    {
      results: gateway.results,
      principal: principal?.id,
      ttlSeconds,
      hide: (value) => {
        const secrets = new RunSecrets(gateway.secrets);
        secrets.learn(params.arguments, target.definition.inputSchema);
        return secrets.hide(value);
      },
      log: gateway.log,
    },
  );
  return server.projectCallToolResult(mirrorStructured(fitted), outputSchema);
}

function clientName(server: Server, ctx: ServerContext): string | undefined {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  const info = envelope?.[CLIENT_INFO_META_KEY] as { name?: unknown } | undefined;
  const name = (info ?? server.getClientVersion())?.name;
  return typeof name === "string" ? name : undefined; // the envelope may hold anything
}
