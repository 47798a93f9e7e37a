import type { ServerResponse } from "node:http";
import type { LimitReached } from "../server/principal-limits.ts";

const SERVER_ERROR = -32_000;

/** Answers an HTTP request that never becomes a message, in the form that MCP clients read. */
export function refuse(response: ServerResponse, status: number, message: string, code = SERVER_ERROR): void {
  send(response, status, { code, message });
}

const TOO_MANY_REQUESTS = 429;
const TOO_LARGE = 413;

export function refuseLimit(response: ServerResponse, { code, message, data, retrySeconds, key }: LimitReached): void {
  if (retrySeconds !== undefined) response.setHeader("Retry-After", retrySeconds);
  send(response, key === "http.maxBodyBytes" ? TOO_LARGE : TOO_MANY_REQUESTS, { code, message, data });
}

function send(response: ServerResponse, status: number, error: object): void {
  response
    .writeHead(status, { "Content-Type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
}
