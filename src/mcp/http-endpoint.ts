import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpServerFactory,
  type ServerNotifier,
} from "@modelcontextprotocol/server";
import type { Logger } from "../log.ts";
import type { Gateway } from "./gateway.ts";
import { namesOf, watchListened } from "./resource-subscriptions.ts";
import { SessionTransport } from "./session-transport.ts";

export interface HttpEndpointOptions {
  readonly gateway: Gateway;
  readonly factory: McpServerFactory;
  readonly maxBodyBytes: number;
  readonly log: Logger;
}

export interface HttpEndpoint extends AsyncDisposable {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface Session {
  readonly transport: SessionTransport;
  lastUsed: number;
}

const SESSION_IDLE_MS = 30 * 60 * 1000;

/** Both eras on one address: requests of the current protocol stand alone, those of 2025 belong to a session. */
export function createHttpEndpoint({ gateway, factory, maxBodyBytes, log }: HttpEndpointOptions): HttpEndpoint {
  const onerror = (error: Error): void => log.debug({ error: error.message }, "mcp over http");
  const modern = createMcpHandler(factory, { legacy: "reject", maxRequestBodySize: maxBodyBytes, onerror });
  const serveModern = toNodeHandler(modern);
  const sessions = new LegacySessions(factory, onerror);
  const stop = announceChanges(gateway, modern.notify);
  return {
    async handle(request, response) {
      const body = await readJson(request, maxBodyBytes);
      if (body.kind === "refused") return refuse(response, body.status, body.message);
      const incoming = request as IncomingMessage & NodeIncomingMessageLike;
      const legacy =
        belongsToSession(request) || (await isLegacyRequest(await toWebRequest(incoming, body.value), body.value));
      if (legacy) return sessions.handle(request, response, body.value);
      const watches = watchListened(gateway, body.value);
      response.once("close", () => void watches.then((watch) => watch[Symbol.asyncDispose]()));
      await watches;
      await serveModern(incoming, response, body.value);
    },
    async [Symbol.asyncDispose]() {
      stop();
      await modern.close();
      await sessions.close();
    },
  };
}

/** The current protocol has no sessions, so such a header settles it without a look at the body. */
function belongsToSession({ headers }: IncomingMessage): boolean {
  return headers["mcp-session-id"] !== undefined;
}

function announceChanges(gateway: Gateway, notify: ServerNotifier): () => void {
  const stopLists = gateway.onListChanged((kinds) => {
    if (kinds.has("tools")) notify.toolsChanged();
    if (kinds.has("prompts")) notify.promptsChanged();
    if (kinds.has("resources")) notify.resourcesChanged();
  });
  const stopUpdates = gateway.upstreams.onResourceUpdate((update) => {
    for (const uri of namesOf(gateway, update)) notify.resourceUpdated(uri);
  });
  return () => {
    stopLists();
    stopUpdates();
  };
}

class LegacySessions {
  readonly #factory: McpServerFactory;
  readonly #onerror: (error: Error) => void;
  readonly #sessions = new Map<string, Session>();
  readonly #sweep: NodeJS.Timeout;

  constructor(factory: McpServerFactory, onerror: (error: Error) => void) {
    this.#factory = factory;
    this.#onerror = onerror;
    this.#sweep = setInterval(() => this.#endIdle(), SESSION_IDLE_MS / 10).unref();
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string") {
      const session = this.#sessions.get(id);
      // 404 is what tells a client to begin a new session, for example after a restart.
      if (session === undefined) return refuse(response, 404, "Session not found; initialize again");
      session.lastUsed = Date.now();
      return session.transport.handleRequest(request, response, body);
    }
    if (!isInitializeRequest(body)) return refuse(response, 400, "The first request of a session must be initialize");
    const transport = await this.#open();
    return transport.handleRequest(request, response, body);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.allSettled([...this.#sessions.values()].map(({ transport }) => transport.close()));
  }

  async #open(): Promise<SessionTransport> {
    const transport = new SessionTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, { transport, lastUsed: Date.now() }),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const server = await this.#factory({ era: "legacy" });
    transport.onerror = this.#onerror;
    await server.connect(transport);
    return transport;
  }

  #endIdle(): void {
    for (const [id, { transport, lastUsed }] of this.#sessions) {
      if (Date.now() - lastUsed < SESSION_IDLE_MS) continue;
      this.#sessions.delete(id);
      transport.close().catch(this.#onerror);
    }
  }
}

type Body =
  | { readonly kind: "read"; readonly value: unknown }
  | { readonly kind: "refused"; readonly status: number; readonly message: string };

async function readJson(request: IncomingMessage, limit: number): Promise<Body> {
  if (request.method !== "POST") return { kind: "read", value: undefined };
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit)
      return { kind: "refused", status: 413, message: `The body is larger than http.maxBodyBytes (${limit})` };
    chunks.push(chunk);
  }
  try {
    return { kind: "read", value: JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown };
  } catch {
    return { kind: "refused", status: 400, message: "Parse error: the body is not JSON" };
  }
}

const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;

export function refuse(response: ServerResponse, status: number, message: string): void {
  const code = message.startsWith("Parse error") ? PARSE_ERROR : SERVER_ERROR;
  response
    .writeHead(status, { "Content-Type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }));
}
