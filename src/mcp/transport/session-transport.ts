import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import {
  type CancelledNotification,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import type { GuardedRequest } from "../../auth/caller.ts";

const SESSION_ENDED = -32_000;
const INVALID_REQUEST = -32_600;

export interface SessionOptions {
  readonly sessionIdGenerator: () => string;
  readonly onsessioninitialized: (id: string) => void;
  readonly onsessionclosed: (id: string) => void;
}

/**
 * The SDK's transport of a session, with its own path for the most frequent case: one request, answered by one result. The
 * answer goes to the Node response as plain JSON, and becomes a stream only if a notice precedes the result. The SDK does
 * everything else. Measurements: docs/decisions/2026-11-18-session-transport.md.
 */
export class SessionTransport extends NodeStreamableHTTPServerTransport {
  readonly #exchanges = new Map<RequestId, ServerResponse>();

  constructor(options: SessionOptions) {
    super({
      ...options,
      onsessionclosed: (id) => {
        this.#endExchanges();
        options.onsessionclosed(id);
      },
    });
  }

  override async handleRequest(request: GuardedRequest, response: ServerResponse, body?: unknown): Promise<void> {
    if (!isPlainRequest(request, body)) {
      await super.handleRequest(request, response, body);
      if (isCancellation(body)) this.#endUnanswered(body.params.requestId);
      return;
    }
    const { id } = body;
    if (this.#exchanges.has(id)) {
      const error = { code: INVALID_REQUEST, message: "A request with this id is still under way" };
      response.writeHead(400, this.#headers("application/json")).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      return;
    }
    this.#exchanges.set(id, response);
    response.on("close", () => {
      if (this.#exchanges.get(id) === response) this.#exchanges.delete(id);
    });
    this.onmessage?.(body, request.auth === undefined ? undefined : { authInfo: request.auth });
  }

  override async close(): Promise<void> {
    this.#endExchanges();
    await super.close();
  }

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    const isAnswer = "result" in message || "error" in message;
    const id = isAnswer ? message.id : options?.relatedRequestId;
    const response = id === undefined ? undefined : this.#exchanges.get(id);
    if (response === undefined) {
      await super.send(message, options);
      return;
    }
    if (isAnswer) {
      // The response closes later; until then another request may have the same id.
      if (id !== undefined) this.#exchanges.delete(id);
      this.#answer(response, message);
    } else this.#tell(response, message);
  }

  /** Answers all open requests with an error: the session ends before their results. */
  #endExchanges(): void {
    for (const [id, response] of this.#exchanges.entries()) {
      this.#exchanges.delete(id);
      const error = { code: SESSION_ENDED, message: "The session ended before this was answered" };
      this.#answer(response, { jsonrpc: "2.0", id, error });
    }
  }

  /** Ends the response of a cancelled request, which gets no answer. */
  #endUnanswered(id: RequestId | undefined): void {
    const response = id === undefined ? undefined : this.#exchanges.get(id);
    if (id === undefined || response === undefined) return;
    this.#exchanges.delete(id);
    if (!response.headersSent) response.writeHead(200, this.#headers("text/event-stream"));
    response.end();
  }

  #answer(response: ServerResponse, message: JSONRPCMessage): void {
    if (response.headersSent) {
      response.end(toEvent(message));
      return;
    }
    const body = JSON.stringify(message);
    // with its length the answer is sent, and read, in one piece
    const headers = { ...this.#headers("application/json"), "Content-Length": Buffer.byteLength(body) };
    response.writeHead(200, headers).end(body);
  }

  #tell(response: ServerResponse, message: JSONRPCMessage): void {
    if (!response.headersSent)
      response.writeHead(200, { ...this.#headers("text/event-stream"), "Cache-Control": "no-cache" });
    response.write(toEvent(message));
  }

  #headers(type: string): Record<string, string> {
    return { "Content-Type": type, ...(this.sessionId === undefined ? {} : { "Mcp-Session-Id": this.sessionId }) };
  }
}

function toEvent(message: JSONRPCMessage): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function isCancellation(body: unknown): body is CancelledNotification {
  return isJSONRPCNotification(body) && body.method === "notifications/cancelled" && body.params !== undefined;
}

/** True for requests that the SDK accepts for certain; it judges all others. */
function isPlainRequest({ method, headers }: IncomingMessage, body: unknown): body is JSONRPCRequest {
  const { accept = "" } = headers;
  const version = headers["mcp-protocol-version"];
  return (
    method === "POST" &&
    headers["content-type"]?.startsWith("application/json") === true &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream") &&
    (version === undefined || (typeof version === "string" && SUPPORTED_PROTOCOL_VERSIONS.includes(version))) &&
    isJSONRPCRequest(body) &&
    body.method !== "initialize"
  );
}
