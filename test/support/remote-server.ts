/** MCP servers behind a loopback URL, in this process: a test can see and intercept every request. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, isInitializeRequest, type McpServer } from "@modelcontextprotocol/server";

export interface RemoteServer extends AsyncDisposable {
  readonly origin: string;
  readonly url: string;
  /** The requested methods, in order. */
  readonly methods: string[];
  /** Notifies listeners of the current protocol that the tools changed. */
  readonly toolsChanged: () => void;
  /** Breaks every open stream. */
  dropStreams(): void;
}

export interface RemoteOptions {
  readonly era: "current" | "2025";
  readonly create: () => McpServer;
  /** Answers a request instead of the server, or returns false. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
}

type HandleRequest = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>;

export async function startRemoteServer({ era, create, intercept }: RemoteOptions): Promise<RemoteServer> {
  const methods: string[] = [];
  const streams = new Set<ServerResponse>();
  const modern = createMcpHandler(create, { legacy: "reject" });
  const serveModern = toNodeHandler(modern) as unknown as HandleRequest;
  const handle: HandleRequest = era === "current" ? serveModern : createSessions(create);
  const server = createServer((request, response) => {
    streams.add(response);
    response.once("close", () => streams.delete(response));
    void (async () => {
      if (await intercept?.(request, response)) return;
      const body = await readJson(request);
      methods.push((body as { method?: string } | undefined)?.method ?? `${request.method}`);
      await handle(request, response, body);
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    methods,
    toolsChanged: () => modern.notify.toolsChanged(),
    dropStreams() {
      for (const response of streams) response.destroy();
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A server of the 2025 era: one session per client, one McpServer per session. */
function createSessions(create: () => McpServer): HandleRequest {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  return async (request, response, body) => {
    const known = sessions.get(String(request.headers["mcp-session-id"]));
    if (known !== undefined) return known.handleRequest(request, response, body);
    if (!isInitializeRequest(body)) return void response.writeHead(404).end();
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await create().connect(transport);
    return transport.handleRequest(request, response, body);
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}
