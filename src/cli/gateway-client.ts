import type { Client } from "@modelcontextprotocol/client";
import type { DaemonAddress } from "../daemon/daemon-file.ts";
import { version } from "../base/package-info.ts";

/** Connects to the gateway as an MCP client, with the view and the rights of an agent. */
export async function withGateway<T>(daemon: DaemonAddress, work: (client: Client) => Promise<T>): Promise<T> {
  const { Client: McpClient, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new McpClient({ name: "pml-cli", version }, { versionNegotiation: { mode: "auto" } });
  const headers = { Authorization: `Bearer ${daemon.token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", daemon.url), { requestInit: { headers } }));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
