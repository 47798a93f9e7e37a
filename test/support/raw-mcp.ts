/** MCP over HTTP without an SDK, for tests of bytes, order, and messages that an SDK would never send. */
import { type DaemonAddress, readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import type { JsonFields } from "./fuzz-values.ts";

export const CURRENT = "2026-07-28";

export interface RawMcpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The message, if the answer has one. */
  readonly message: {
    readonly result?: JsonFields;
    readonly error?: { readonly code: number; readonly message: string };
  };
}

export class RawMcp {
  readonly address: DaemonAddress;
  #lastId = 0;
  session: string | undefined;

  constructor(home: string) {
    const address = readDaemonAddress(home);
    if (address === undefined) throw new Error(`no daemon runs in ${home}`);
    this.address = address;
  }

  async fetch(init: {
    method?: string;
    headers?: Record<string, string>;
    body?: JsonFields;
    signal?: AbortSignal;
  }): Promise<Response> {
    const { method = "POST", headers = {}, body, signal } = init;
    return fetch(new URL("/mcp", this.address.url), {
      method,
      headers: {
        Authorization: `Bearer ${this.address.token}`,
        "Content-Type": "application/json",
        Accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
        ...(this.session === undefined ? {} : { "Mcp-Session-Id": this.session }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Sends a request of the 2025 era. */
  async old(method: string, params: JsonFields = {}): Promise<RawMcpAnswer> {
    this.#lastId += 1;
    return read(await this.fetch({ body: { jsonrpc: "2.0", id: this.#lastId, method, params } }));
  }

  async initialize(protocolVersion = "2025-11-25"): Promise<RawMcpAnswer> {
    const answer = await this.old("initialize", {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: "raw", version: "1" },
    });
    this.session = answer.headers.get("mcp-session-id") ?? undefined;
    await this.fetch({ body: { jsonrpc: "2.0", method: "notifications/initialized" } });
    return answer;
  }

  /** Sends a request of the current protocol, which needs no session. */
  async current(method: string, params: JsonFields = {}, capabilities: JsonFields = {}): Promise<RawMcpAnswer> {
    return read(await this.beginCurrent(method, params, capabilities));
  }

  beginCurrent(
    method: string,
    params: JsonFields = {},
    capabilities: JsonFields = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    this.#lastId += 1;
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": CURRENT,
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const name = params["name"] ?? params["uri"];
    return this.fetch({
      headers: {
        "Mcp-Protocol-Version": CURRENT,
        "Mcp-Method": method,
        ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
      },
      body: { jsonrpc: "2.0", id: this.#lastId, method, params: { ...params, _meta } },
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

async function read(response: Response): Promise<RawMcpAnswer> {
  const text = await response.text();
  const json = text.startsWith("event:") || text.startsWith("data:") ? (readEvents(text).at(-1) ?? "{}") : text || "{}";
  return {
    status: response.status,
    headers: response.headers,
    text,
    message: JSON.parse(json) as RawMcpAnswer["message"],
  };
}

/** Returns the messages in a text of server-sent events. */
function readEvents(text: string): string[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, message = ""]) => message);
}

/** Yields the messages of a stream as they arrive, until it ends. */
export async function* streamMessages(response: Response): AsyncGenerator<JsonFields> {
  let rest = "";
  for await (const chunk of response.body ?? []) {
    rest += Buffer.from(chunk as Uint8Array).toString();
    const events = rest.split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) for (const message of readEvents(event)) yield JSON.parse(message) as JsonFields;
  }
}
