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

import type { GuardedRequest } from "../auth/caller.ts";

/**
 * The SDK's transport of a session, with a short way for its most frequent case: one request, answered
 * by one result. That goes straight to the Node response, as plain JSON; only when something has to be
 * said before the result does the answer become a stream. All else is left to the SDK.
 */
export class SessionTransport extends NodeStreamableHTTPServerTransport {
  readonly #exchanges = new Map<RequestId, ServerResponse>();

  override async handleRequest(request: GuardedRequest, response: ServerResponse, body?: unknown): Promise<void> {
    if (!isPlainRequest(request, body) || this.#exchanges.has(body.id)) {
      await super.handleRequest(request, response, body);
      if (isCancellation(body)) this.#endUnanswered(body.params.requestId);
      return;
    }
    const { id } = body;
    this.#exchanges.set(id, response);
    response.once("close", () => this.#exchanges.delete(id));
    this.onmessage?.(body, request.auth === undefined ? undefined : { authInfo: request.auth });
  }

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    const isAnswer = "result" in message || "error" in message;
    const id = isAnswer ? message.id : options?.relatedRequestId;
    const response = id === undefined ? undefined : this.#exchanges.get(id);
    if (response === undefined) {
      await super.send(message, options);
      return;
    }
    if (isAnswer) this.#answer(response, message);
    else this.#tell(response, message);
  }

  /** A cancelled request is not answered any more, and nobody should wait for that. */
  #endUnanswered(id: RequestId | undefined): void {
    const response = id === undefined ? undefined : this.#exchanges.get(id);
    if (response === undefined) return;
    if (!response.headersSent) response.writeHead(200, this.#headers("text/event-stream"));
    response.end();
  }

  #answer(response: ServerResponse, message: JSONRPCMessage): void {
    if (response.headersSent) response.end(toEvent(message));
    else response.writeHead(200, this.#headers("application/json")).end(JSON.stringify(message));
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

/** What the SDK would accept without a word; anything doubtful is for it to judge. */
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
