import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type CompleteResult,
  type GetPromptResult,
  type Implementation,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  McpServer,
  type McpServerOptions,
  type ReadResourceResult,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { version } from "../package-info.ts";
import type { Gateway } from "./gateway.ts";
import { paginate } from "./paginate.ts";
import { type ReadClient, Relay, type RequestState, toToolError } from "./relay.ts";
import { renameContents } from "./rename-contents.ts";
import { handleSubscriptions } from "./resource-subscriptions.ts";
import { trackCall } from "./track-call.ts";

export interface GatewayServerOptions {
  readonly gateway: Gateway;
  readonly codec: RequestStateCodec<RequestState>;
}

/** Lists change rarely and are announced when they do; the hint is for clients that missed it. */
const LIST_HINT = { ttlMs: 60_000, cacheScope: "private" } as const;
const MOST_QUESTIONS_PER_CALL = 32;

/** The SDK compares `Mcp-Param-*` headers with the arguments of tools that it knows; it knows ours by this. */
class GatewayServer extends McpServer {
  readonly #gateway: Gateway;

  constructor(gateway: Gateway, info: Implementation, options: McpServerOptions) {
    super(info, options);
    this.#gateway = gateway;
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#gateway.findTool(name)?.tool.inputSchema;
  }
}

/** The protocol's side of the gateway: one per connection, per session, per request; so it is cheap. */
export function createGatewayServer({ gateway, codec }: GatewayServerOptions): McpServer {
  const mcp = new GatewayServer(
    gateway,
    { name: "pml", title: "Procedural Memory Layer", version },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      cacheHints: {
        "tools/list": LIST_HINT,
        "prompts/list": LIST_HINT,
        "resources/list": LIST_HINT,
        "resources/templates/list": LIST_HINT,
      },
      inputRequired: { maxRounds: MOST_QUESTIONS_PER_CALL },
      requestState: { verify: (state, ctx) => codec.verify(state, ctx) },
    },
  );
  const relay = new Relay(gateway, codec, createClientReader(mcp));
  handleLists(mcp, gateway);
  handleTools(mcp, gateway, relay);
  handlePrompts(mcp, gateway, relay);
  handleResources(mcp, gateway, relay);
  handleSubscriptions(mcp, gateway);
  return mcp;
}

/** In the 2025 era a client says once what it can and which log messages it wants, afterwards with each request. */
function createClientReader({ server }: McpServer): ReadClient {
  let sessionLevel: LoggingLevel | undefined;
  server.setRequestHandler("logging/setLevel", ({ params }) => {
    sessionLevel = params.level;
    return {};
  });
  return (ctx) => {
    const envelope: Record<string, unknown> = { ...ctx.mcpReq.envelope };
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
    const capabilities = declared ?? server.getClientCapabilities() ?? {};
    const logLevel = (envelope[LOG_LEVEL_META_KEY] ?? sessionLevel) as LoggingLevel | undefined;
    return { capabilities, ...(logLevel === undefined ? {} : { logLevel }) };
  };
}

function handleLists({ server }: McpServer, gateway: Gateway): void {
  server.setRequestHandler("tools/list", ({ params }) => {
    const { items, ...rest } = paginate(gateway.surface.tools, params?.cursor);
    return { tools: items, ...rest };
  });
  server.setRequestHandler("prompts/list", ({ params }) => {
    const { items, ...rest } = paginate(gateway.surface.prompts, params?.cursor);
    return { prompts: items, ...rest };
  });
  server.setRequestHandler("resources/list", ({ params }) => {
    const { items, ...rest } = paginate(gateway.surface.resources, params?.cursor);
    return { resources: items, ...rest };
  });
  server.setRequestHandler("resources/templates/list", ({ params }) => {
    const { items, ...rest } = paginate(gateway.surface.resourceTemplates, params?.cursor);
    return { resourceTemplates: items, ...rest };
  });
}

function handleTools({ server }: McpServer, gateway: Gateway, relay: Relay): void {
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    const { name, _meta, ...rest } = params;
    const call = { name, client: clientName(server, ctx), params: rest, signal: ctx.mcpReq.signal };
    const result = await trackCall(gateway, call, async ({ tool, ...target }) => {
      const answer = await relay
        .pass({ target, method: "tools/call", params: { ...rest, name: target.name }, ctx })
        .catch(toToolError);
      if (answer["resultType"] === "input_required") return answer as unknown as CallToolResult;
      return server.projectCallToolResult(answer as CallToolResult, tool.outputSchema);
    }).catch(toToolError);
    return result as CallToolResult;
  });
}

function clientName(server: McpServer["server"], ctx: ServerContext): string | undefined {
  const envelope: Record<string, unknown> = { ...ctx.mcpReq.envelope };
  const info = envelope[CLIENT_INFO_META_KEY] as { name?: string } | undefined;
  return (info ?? server.getClientVersion())?.name;
}

function handlePrompts({ server }: McpServer, gateway: Gateway, relay: Relay): void {
  server.setRequestHandler("prompts/get", async ({ params }, ctx) => {
    const { name, _meta, ...rest } = params;
    const target = gateway.resolvePrompt(name);
    return (await relay.pass({
      target,
      method: "prompts/get",
      params: { ...rest, name: target.name },
      ctx,
    })) as GetPromptResult;
  });
  server.setRequestHandler("completion/complete", async ({ params }) => {
    const { ref, _meta, ...rest } = params;
    const target = ref.type === "ref/prompt" ? gateway.resolvePrompt(ref.name) : gateway.resolveResource(ref.uri);
    const original = ref.type === "ref/prompt" ? { ...ref, name: target.name } : { ...ref, uri: target.name };
    return (await target.upstream.request({
      method: "completion/complete",
      params: { ...rest, ref: original },
    })) as CompleteResult;
  });
}

function handleResources({ server }: McpServer, gateway: Gateway, relay: Relay): void {
  server.setRequestHandler("resources/read", async ({ params }, ctx) => {
    const { uri, _meta, ...rest } = params;
    const target = gateway.resolveResource(uri);
    const result = await relay.pass({ target, method: "resources/read", params: { ...rest, uri: target.name }, ctx });
    return renameContents(result, target.name, uri) as ReadResourceResult;
  });
}
