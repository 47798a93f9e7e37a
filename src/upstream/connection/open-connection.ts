import {
  Client,
  type ClientCapabilities,
  type PriorDiscovery,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { McpServerEntry } from "../../config/schema.ts";
import { version } from "../../base/package-info.ts";
import { findHttpStatus } from "../failures.ts";
import type { ServerAuth } from "../oauth/server-auth.ts";
import { limitMessages } from "./limit-messages.ts";
import { noValidation } from "./no-validation.ts";
import type { ProcessGroups } from "./process-groups.ts";
import type { ServerOutput } from "./server-output.ts";
import { SseTransport } from "./sse-transport.ts";
import { StdioProcess } from "./stdio-process.ts";

export interface Connection {
  readonly client: Client;
  /** Set for servers that run as a child process. */
  readonly process: StdioProcess | undefined;
}

export interface ConnectOptions {
  readonly entry: McpServerEntry;
  readonly timeoutMs: number;
  readonly maxMessageBytes: number;
  /** The era the server is assumed to speak; undefined to ask it. */
  readonly era: PriorDiscovery | undefined;
  /** Authenticates PML to a remote server, besides the configured headers. */
  readonly auth: ServerAuth | undefined;
  readonly onNoise: (line: string) => void;
  readonly groups: ProcessGroups;
  readonly output?: ServerOutput | undefined;
  /** Installs handlers before the first message can arrive; throws if no connection is wanted any more. */
  readonly prepare: (client: Client, transport: Transport) => void;
}

/**
 * Constant, because servers may derive their lists from them. Questions that a caller cannot answer are refused call by
 * call.
 */
const CAPABILITIES: ClientCapabilities = { elicitation: { form: {}, url: {} }, sampling: {} };

const LEGACY: PriorDiscovery = { kind: "legacy" };

/** Some servers of the 2025 era do not answer unknown requests. */
const ERA_QUESTION_MS = 3_000;

export async function connectServer(options: ConnectOptions): Promise<Connection> {
  const { entry } = options;
  if (entry.command !== undefined) return connectProcess(entry.command, options);
  const url = new URL(entry.url ?? "");
  const { auth } = options;
  const limited = limitMessages(fetch, options.maxMessageBytes);
  const init = {
    requestInit: { headers: entry.headers ?? {} },
    fetch: auth?.watch(limited) ?? limited,
    onInsufficientScope: "throw",
    ...(auth === undefined ? {} : { authProvider: auth }),
  } as const;
  const openOld = (): Transport => new SseTransport(url, init, options.timeoutMs);
  if (entry.type === "sse") return connectRemote(openOld, options, LEGACY);
  try {
    return await connectRemote(() => new StreamableHTTPClientTransport(url, init), options, options.era);
  } catch (error) {
    // Servers older than Streamable HTTP answer its POST with a 4xx: tries SSE.
    if (entry.type !== undefined || !isClientError(error)) throw error;
    return connectRemote(openOld, options, LEGACY).catch(() => {
      throw error;
    });
  }
}

async function connectProcess(command: string, options: ConnectOptions): Promise<Connection> {
  const { args = [], env = {}, cwd } = options.entry;
  const open = async (era: PriorDiscovery | undefined): Promise<Connection> => {
    const process = new StdioProcess({ command, args, env, cwd }, options);
    return { client: await connectClient(process, options, era), process };
  };
  return open(options.era).catch((error: unknown) => {
    // Some servers of the 2025 era exit at an unknown first request.
    const stumbled = error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
    if (options.era === undefined && stumbled) return open(LEGACY);
    throw error;
  });
}

async function connectRemote(
  open: () => Transport,
  options: ConnectOptions,
  era: PriorDiscovery | undefined,
): Promise<Connection> {
  return { client: await connectClient(open(), options, era), process: undefined };
}

async function connectClient(
  transport: Transport,
  options: ConnectOptions,
  era: PriorDiscovery | undefined,
): Promise<Client> {
  const asksProcess = transport instanceof StdioProcess && era === undefined;
  // The time for the question about the era is part of the connection timeout.
  const questionMs = asksProcess ? Math.min(ERA_QUESTION_MS, options.timeoutMs / 2) : 0;
  const probe = asksProcess ? { timeoutMs: questionMs } : {};
  const client = new Client(
    { name: "pml", version },
    { capabilities: CAPABILITIES, versionNegotiation: { mode: "auto", probe }, jsonSchemaValidator: noValidation },
  );
  options.prepare(client, transport);
  try {
    const timeout = options.timeoutMs - questionMs;
    await client.connect(transport, era === undefined ? { timeout } : { timeout, prior: era });
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
