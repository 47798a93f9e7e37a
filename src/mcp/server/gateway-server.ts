import {
  CLIENT_CAPABILITIES_META_KEY,
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
} from "@modelcontextprotocol/server";
import { version } from "../../base/package-info.ts";
import { findHeaderParams } from "../../upstream/connection/param-headers.ts";
import { noValidation } from "../../upstream/connection/no-validation.ts";
import { principalOf } from "../../auth/caller.ts";
import type { Accounts } from "./accounts.ts";
import type { ConnectionForms } from "./connection-forms.ts";
import type { Gateway } from "./gateway.ts";
import type { Quota } from "./principal-limits.ts";
import { paginate } from "./paginate.ts";
import { type ReadClient, Relay, type RequestState } from "../relay.ts";
import { renameContents } from "./rename-contents.ts";
import { handleSubscriptions } from "./resource-subscriptions.ts";
import type { ToolNames } from "../../catalogue/surface.ts";
import { createToolCaller } from "./agent-calls.ts";
import { traceCall } from "./trace-call.ts";
import { VerbatimServer } from "./verbatim-server.ts";

export interface GatewayServerOptions {
  readonly gateway: Gateway;
  readonly accounts: Accounts;
  /** How tools are named in lists; by default as configured. */
  readonly names: ToolNames | undefined;
  readonly codec: RequestStateCodec<RequestState>;
  /** Absent where no form of this connection counts as an answer of a person. */
  readonly forms?: ConnectionForms | undefined;
  /** Tells connections apart; empty for a single request. */
  readonly connection: string;
}

/** Shared by the handlers of one connection. */
interface HandlerParts {
  readonly gateway: Gateway;
  readonly relay: Relay;
  readonly forms: ConnectionForms | undefined;
  /** Limits the calls under way. */
  readonly calls: Quota;
}

/** Lists change rarely and are announced when they do; the hint is for clients that missed it. */
const LIST_HINT = { ttlMs: 60_000, cacheScope: "private" } as const;
const MOST_QUESTIONS_PER_CALL = 32;
const INSTRUCTIONS =
  "A gateway to many tools that remembers. pml_execute runs TypeScript over all of them in one go and keeps what worked as a capability; with an intent alone it suggests what to use. Not all tools may be listed: pml_discover finds tools by what they do, and every tool it finds can be called by its callName. Long results are cut and say how to read on.";

/** Gives the SDK the schemas by which it compares `Mcp-Param-*` headers with arguments. */
class GatewayServer extends McpServer {
  override readonly server: VerbatimServer;
  readonly #gateway: Gateway;

  constructor(gateway: Gateway, info: Implementation, options: McpServerOptions) {
    super(info); // without options it sets no handlers on the plain server that it makes
    this.server = new VerbatimServer(info, options);
    this.#gateway = gateway;
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    const schema = this.#gateway.names.findTool(name)?.inputSchema;
    // the SDK would search the whole schema with each call
    return schema === undefined || findHeaderParams(schema).length === 0 ? undefined : schema;
  }
}

/** Creates the protocol server of one connection, session or request; it is cheap. */
export function createGatewayServer(options: GatewayServerOptions): McpServer {
  const { gateway, accounts, names, codec, forms, connection } = options;
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
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: noValidation,
      inputRequired: { maxRounds: MOST_QUESTIONS_PER_CALL },
      requestState: { verify: (state, ctx) => codec.verify(state, ctx) },
    },
  );
  const relay = new Relay({ gateway, codec, connection, readClient: createClientReader(mcp) });
  const serving = { gateway, relay, forms, calls: accounts.quota("concurrentRequests") };
  handleLists(mcp, gateway, names);
  handleTools(mcp, serving);
  handlePrompts(mcp, serving);
  handleResources(mcp, serving);
  handleSubscriptions(mcp, gateway, accounts.quota("subscriptions"));
  return mcp;
}

/** Reads capabilities and log level: declared once per session in the 2025 era, with each request since. */
function createClientReader({ server }: McpServer): ReadClient {
  let sessionLevel: LoggingLevel | undefined;
  server.setRequestHandler("logging/setLevel", ({ params }) => {
    sessionLevel = params.level;
    return {};
  });
  return (ctx) => {
    const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
    const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
    const capabilities = declared ?? server.getClientCapabilities() ?? {};
    const logLevel = (envelope?.[LOG_LEVEL_META_KEY] ?? sessionLevel) as LoggingLevel | undefined;
    return { capabilities, ...(logLevel === undefined ? {} : { logLevel }) };
  };
}

function handleLists({ server }: McpServer, gateway: Gateway, names: ToolNames | undefined): void {
  server.setRequestHandler("tools/list", async ({ params }, ctx) => {
    const listed = await gateway.listTools(names, principalOf(ctx.http?.authInfo)?.id);
    const { items, ...rest } = paginate(listed, params?.cursor);
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

function handleTools(mcp: McpServer, serving: HandlerParts): void {
  const callTool = createToolCaller({ ...serving, server: mcp.server });
  mcp.server.setRequestHandler("tools/call", ({ params }, ctx) => callTool(params, ctx));
}

function handlePrompts({ server }: McpServer, { gateway, relay, calls }: HandlerParts): void {
  server.setRequestHandler("prompts/get", async ({ params }, ctx) => {
    const { name, _meta, ...rest } = params;
    return traceCall("prompts/get", ctx, async ({ meta, found }) => {
      using _place = calls.take();
      const target = gateway.names.resolvePrompt(name);
      found(target.server, target.name);
      const renamed = { ...rest, name: target.name };
      return (await relay.pass({ target, method: "prompts/get", params: renamed, meta }, ctx)) as GetPromptResult;
    });
  });
  server.setRequestHandler("completion/complete", async ({ params }, ctx) => {
    const { ref, _meta, ...rest } = params;
    return traceCall("completion/complete", ctx, async ({ meta, found }) => {
      using _place = calls.take();
      const target =
        ref.type === "ref/prompt" ? gateway.names.resolvePrompt(ref.name) : gateway.names.resolveResource(ref.uri);
      found(target.server);
      const original = ref.type === "ref/prompt" ? { ...ref, name: target.name } : { ...ref, uri: target.name };
      return (await target.upstream.request({
        method: "completion/complete",
        params: { ...rest, ref: original, ...meta },
      })) as CompleteResult;
    });
  });
}

function handleResources({ server }: McpServer, { gateway, relay, calls }: HandlerParts): void {
  server.setRequestHandler("resources/read", async ({ params }, ctx) => {
    const { uri, _meta, ...rest } = params;
    return traceCall("resources/read", ctx, async ({ meta, found }) => {
      using _place = calls.take();
      const target = gateway.names.resolveResource(uri);
      found(target.server);
      const renamed = { ...rest, uri: target.name };
      const result = await relay.pass({ target, method: "resources/read", params: renamed, meta }, ctx);
      return renameContents(result, target.name, uri) as ReadResourceResult;
    });
  });
}
