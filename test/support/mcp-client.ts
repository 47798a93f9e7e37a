import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { PML, testEnvironment } from "./pml.ts";

export interface TestClient extends AsyncDisposable {
  readonly client: Client;
  readonly pid: number;
}

/** An MCP client that starts `pml mcp`, as agents' clients do. */
export async function connectClient(home: string, env: Readonly<Record<string, string>> = {}): Promise<TestClient> {
  const client = new Client({ name: "test-client", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PML, "mcp"],
    env: testEnvironment({ home, env }),
    stderr: "inherit",
  });
  await client.connect(transport);
  const { pid } = transport;
  if (pid === null) throw new Error("the transport has no process");
  return { client, pid, [Symbol.asyncDispose]: () => client.close() };
}
