import {
  Client,
  type ClientCapabilities,
  SdkError,
  SdkErrorCode,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { McpServerEntry } from "../config/schema.ts";
import { version } from "../package-info.ts";
import { findHttpStatus } from "./failures.ts";
import type { ProcessGroups } from "./process-groups.ts";
import type { ServerOutput } from "./server-output.ts";
import { StdioProcess } from "./stdio-process.ts";

export interface Connection {
  readonly client: Client;
  /** Only of servers that run as a child process. */
  readonly process: StdioProcess | undefined;
}

export interface ConnectOptions {
  readonly entry: McpServerEntry;
  readonly timeoutMs: number;
  /** Whether a child process is asked which era it speaks, or taken for one of 2025. */
  readonly askEra: boolean;
  readonly onNoise: (line: string) => void;
  readonly groups: ProcessGroups;
  readonly output?: ServerOutput | undefined;
  /** Installs handlers before the first message can come; throws where no connection is wanted any more. */
  readonly prepare: (client: Client, transport: Transport) => void;
}

/**
 * The same at every connect, or a server's list would change with it. What a caller cannot answer is
 * refused call by call.
 */
const CAPABILITIES: ClientCapabilities = { elicitation: { form: {}, url: {} }, sampling: {} };

/** Some servers of the 2025 era leave a question that they do not know unanswered. */
const ERA_QUESTION_MS = 3_000;

export async function connectServer(options: ConnectOptions): Promise<Connection> {
  const { entry } = options;
  if (entry.command !== undefined) return connectProcess(entry.command, options);
  const url = new URL(entry.url ?? "");
  const init = { requestInit: { headers: entry.headers ?? {} } };
  if (entry.type === "sse") return connectRemote(() => new SSEClientTransport(url, init), options, "legacy");
  try {
    return await connectRemote(() => new StreamableHTTPClientTransport(url, init), options, "auto");
  } catch (error) {
    // Servers of before Streamable HTTP answer its POST with a 4xx; they are to be tried the old way.
    if (entry.type !== undefined || !isClientError(error)) throw error;
    return connectRemote(() => new SSEClientTransport(url, init), options, "legacy").catch(() => {
      throw error;
    });
  }
}

async function connectProcess(command: string, options: ConnectOptions): Promise<Connection> {
  const { args = [], env = {}, cwd } = options.entry;
  const open = async (mode: "auto" | "legacy"): Promise<Connection> => {
    const process = new StdioProcess({ command, args, env, cwd }, options);
    return { client: await connectClient(process, options, mode), process };
  };
  if (!options.askEra) return open("legacy");
  return open("auto").catch((error: unknown) => {
    // Some servers of the 2025 era end at a first request that they do not know.
    if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed) return open("legacy");
    throw error;
  });
}

async function connectRemote(
  open: () => Transport,
  options: ConnectOptions,
  mode: "auto" | "legacy",
): Promise<Connection> {
  return { client: await connectClient(open(), options, mode), process: undefined };
}

async function connectClient(transport: Transport, options: ConnectOptions, mode: "auto" | "legacy"): Promise<Client> {
  const asksProcess = transport instanceof StdioProcess && mode === "auto";
  // The time that a silent process is asked for its era is part of what it has in all.
  const questionMs = asksProcess ? Math.min(ERA_QUESTION_MS, options.timeoutMs / 2) : 0;
  const probe = asksProcess ? { timeoutMs: questionMs } : {};
  const client = new Client(
    { name: "pml", version },
    { capabilities: CAPABILITIES, versionNegotiation: { mode, probe } },
  );
  options.prepare(client, transport);
  try {
    await client.connect(transport, { timeout: options.timeoutMs - questionMs });
    return client;
  } catch (error) {
    await transport.close();
    throw error;
  }
}

function isClientError(error: unknown): boolean {
  const status = findHttpStatus(error);
  return status !== undefined && status >= 400 && status < 500;
}
