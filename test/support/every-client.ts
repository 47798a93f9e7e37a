/** Every way in which a real client reaches the gateway: two SDKs, two transports, two eras. */
import type { Progress } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { connectClient } from "./mcp-client.ts";
import { PML, testEnvironment } from "./pml.ts";

interface ClientCallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: Progress) => void;
}

interface ToolResult {
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/** The operations that all of them have. */
export interface AnyClient extends AsyncDisposable {
  listTools(): Promise<readonly { readonly name: string }[]>;
  callTool(name: string, input: Record<string, unknown>, options?: ClientCallOptions): Promise<ToolResult>;
  readonly toolChanges: { count: number };
}

type Transport = "stdio" | "http";

export interface ClientKind {
  readonly client: string;
  readonly era: "legacy" | "modern";
  readonly connect: (home: string) => Promise<AnyClient>;
}

export const everyClient: readonly ClientKind[] = (["stdio", "http"] as const).flatMap((transport) => [
  { client: `SDK v1, ${transport}`, era: "legacy" as const, connect: (home: string) => connectOld(home, transport) },
  {
    client: `SDK v2 legacy, ${transport}`,
    era: "legacy" as const,
    connect: (home: string) => connectNew(home, transport, "legacy"),
  },
  {
    client: `SDK v2 modern, ${transport}`,
    era: "modern" as const,
    connect: (home: string) => connectNew(home, transport, "auto"),
  },
]);

async function connectNew(home: string, transport: Transport, era: "legacy" | "auto"): Promise<AnyClient> {
  const connected = await connectClient(home, { transport, era });
  const { client, toolChanges } = connected;
  return {
    toolChanges,
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, input, options) => client.callTool({ name, arguments: input }, options),
    [Symbol.asyncDispose]: () => connected[Symbol.asyncDispose](),
  };
}

async function connectOld(home: string, transport: Transport): Promise<AnyClient> {
  const client = new OldClient({ name: "old-client", version: "1.0.0" });
  const toolChanges = { count: 0 };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (toolChanges.count += 1));
  const address = readDaemonAddress(home);
  const headers = { Authorization: `Bearer ${address?.token}` };
  await client.connect(
    transport === "stdio"
      ? new StdioClientTransport({ command: process.execPath, args: [PML, "mcp"], env: testEnvironment({ home }) })
      : new StreamableHTTPClientTransport(new URL("/mcp", address?.url), { requestInit: { headers } }),
  );
  return {
    toolChanges,
    listTools: async () => listAll(client),
    callTool: (name, input, options) =>
      client.callTool({ name, arguments: input }, CallToolResultSchema, options) as Promise<ToolResult>,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Follows the pages, which this SDK leaves to its users. */
async function listAll(client: OldClient): Promise<{ name: string }[]> {
  const tools: { name: string }[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** Connects all of them, for tests that compare their views. */
export async function connectEvery(home: string): Promise<(AnyClient & ClientKind)[] & AsyncDisposable> {
  const clients = await Promise.all(
    everyClient.map(async (kind) => {
      const connected = await kind.connect(home);
      return { ...kind, ...connected, [Symbol.asyncDispose]: () => connected[Symbol.asyncDispose]() };
    }),
  );
  return Object.assign(clients, {
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
    },
  });
}
