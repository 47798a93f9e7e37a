/** A client built on version 1 of the SDK, like most clients in use. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { PML, testEnvironment } from "./pml.ts";

type OldClient = Pick<Client, "listTools" | "callTool"> & AsyncDisposable;

export async function connectOldClient(home: string, transport: "stdio" | "http"): Promise<OldClient> {
  const client = new Client({ name: "old-client", version: "1.0.0" });
  const address = readDaemonAddress(home);
  const headers = { Authorization: `Bearer ${address?.token}` };
  await client.connect(
    transport === "stdio"
      ? new StdioClientTransport({ command: process.execPath, args: [PML, "mcp"], env: testEnvironment({ home }) })
      : new StreamableHTTPClientTransport(new URL("/mcp", address?.url), { requestInit: { headers } }),
  );
  return {
    listTools: () => client.listTools(),
    callTool: (params) => client.callTool(params),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
