/** MCP over HTTP without an SDK, for what an SDK hides: bytes, order, and what it would never send. */
import { type DaemonAddress, readDaemonAddress } from "../../src/daemon/daemon-file.ts";

type Fields = Record<string, unknown>;

export const CURRENT = "2026-07-28";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The message, of an answer that has one. */
  readonly message: { readonly result?: Fields; readonly error?: { readonly code: number; readonly message: string } };
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
    body?: Fields;
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

  /** A request of the 2025 era. */
  async old(method: string, params: Fields = {}): Promise<Answer> {
    this.#lastId += 1;
    return read(await this.fetch({ body: { jsonrpc: "2.0", id: this.#lastId, method, params } }));
  }

  async initialize(protocolVersion = "2025-11-25"): Promise<Answer> {
    const answer = await this.old("initialize", {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: "raw", version: "1" },
    });
    this.session = answer.headers.get("mcp-session-id") ?? undefined;
    await this.fetch({ body: { jsonrpc: "2.0", method: "notifications/initialized" } });
    return answer;
  }

  /** A request of the current protocol, which needs no session. */
  async current(method: string, params: Fields = {}, capabilities: Fields = {}): Promise<Answer> {
    return read(await this.beginCurrent(method, params, capabilities));
  }

  beginCurrent(
    method: string,
    params: Fields = {},
    capabilities: Fields = {},
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

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const json = text.startsWith("event:") || text.startsWith("data:") ? (readEvents(text).at(-1) ?? "{}") : text || "{}";
  return { status: response.status, headers: response.headers, text, message: JSON.parse(json) as Answer["message"] };
}

/** The messages in a text of server-sent events. */
function readEvents(text: string): string[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, message = ""]) => message);
}

/** Messages as they come in on a stream, until it ends. */
export async function* streamMessages(response: Response): AsyncGenerator<Fields> {
  let rest = "";
  for await (const chunk of response.body ?? []) {
    rest += Buffer.from(chunk as Uint8Array).toString();
    const events = rest.split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) for (const message of readEvents(event)) yield JSON.parse(message) as Fields;
  }
}
