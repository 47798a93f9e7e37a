import type { Client } from "@modelcontextprotocol/client";
import type { DaemonAddress } from "../daemon/daemon-file.ts";
import { sendProven } from "../daemon/proven-connection.ts";
import { version } from "../base/package-info.ts";

/** Connects to the gateway as an MCP client, with the view and the rights of an agent. */
export async function withGateway<T>(daemon: DaemonAddress, work: (client: Client) => Promise<T>): Promise<T> {
  const { Client: McpClient, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new McpClient({ name: "pml-cli", version }, { versionNegotiation: { mode: "auto" } });
  const fetch = (url: URL | string, init?: RequestInit): Promise<Response> => fetchProven(daemon, url, init);
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", daemon.url), { fetch }));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

function fetchProven(daemon: DaemonAddress, url: URL | string, init: RequestInit = {}): Promise<Response> {
  const { pathname, search } = new URL(url);
  const { method, headers, body, signal } = init;
  return sendProven(daemon, {
    path: `${pathname}${search}`,
    method,
    headers: Object.fromEntries(new Headers(headers)),
    body: typeof body === "string" ? body : undefined,
    signal: signal ?? undefined,
  });
}
