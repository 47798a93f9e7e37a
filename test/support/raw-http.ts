/** Hand-made HTTP requests, for tests of requests that a well-behaved client never sends. */
import { type IncomingHttpHeaders, request } from "node:http";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Unlike fetch, sends any Host and Origin. */
export function sendRaw(
  url: string,
  { method = "POST", path = "/mcp", headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers: { ...JSON_HEADERS, ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.once("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

export interface RawStream extends Disposable {
  readonly status: number;
  /** Returns the text received so far. */
  text(): string;
  /** Resolves when the gateway has ended the stream. */
  readonly ended: Promise<unknown>;
}

/** Like sendRaw, for a streamed answer; resolves with its headers. */
export function openRawStream(
  url: string,
  { method = "POST", path = "/mcp", headers = {}, body }: RawRequest,
): Promise<RawStream> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers: { ...JSON_HEADERS, ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("error", () => undefined); // it is cut off on purpose
      resolve({
        status: response.statusCode ?? 0,
        text: () => text,
        ended: new Promise((end) => response.once("close", end)),
        [Symbol.dispose]: () => void sent.destroy(),
      });
    });
    sent.once("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export interface LocalAddress {
  readonly url: string;
  readonly authorization: string;
}

export function addressOf(home: string): LocalAddress {
  const address = readDaemonAddress(home);
  if (address === undefined) throw new Error(`no daemon runs in ${home}`);
  return { url: address.url, authorization: `Bearer ${address.token}` };
}

const CURRENT_VERSION = "2026-07-28";

/** Builds a request of the current protocol, with all required metadata. */
export function currentRequest(method: string, params: Readonly<Record<string, unknown>> = {}): MessageRequest {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": CURRENT_VERSION,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = params["name"] ?? params["uri"];
  return {
    headers: {
      "mcp-protocol-version": CURRENT_VERSION,
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
    },
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } },
  };
}

/** Builds the first request of a client of the 2025 era. */
export function initializeRequest(protocolVersion: string): MessageRequest {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "raw", version: "1.0.0" } };
  return { headers: {}, body: { jsonrpc: "2.0", id: 1, method: "initialize", params } };
}

interface MessageRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly jsonrpc: "2.0"; readonly id: number; readonly method: string; readonly params: object };
}
