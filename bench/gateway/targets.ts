import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { PML, testEnvironment } from "../../test/support/pml.ts";
import { servers, writeConfig } from "../../test/support/upstream-servers.ts";
import { startDaemon } from "../storage/daemon.ts";
import { freePort } from "../../test/support/free-port.ts";
import { startChild } from "./child.ts";
import { installPeers } from "./peers.ts";

/** One way to call the same tool of the same server. */
export interface GatewayTarget extends AsyncDisposable {
  readonly name: string;
  readonly client: Client;
  readonly tool: string;
  /** The gateway's process, if any. */
  readonly pid?: number;
  /** Its address, if it uses HTTP. */
  readonly http?: HttpTarget;
}

export interface HttpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly kind: "streamable" | "sse";
}

const { command, args } = servers.everything;
const START_LIMIT_MS = 30_000;

/** PML_HOME of the measured gateway. */
export function gatewayHome(folder: string): string {
  return join(folder, "home");
}

export async function startTargets(folder: string): Promise<GatewayTarget[]> {
  const peers = await installPeers();
  const home = gatewayHome(folder);
  mkdirSync(home);
  writeConfig(home, { mcpServers: { everything: servers.everything } });
  const daemon = await startDaemon(home);
  const own = { pid: daemon.pid, tool: "everything__echo" };
  const address = readDaemonAddress(home);
  const headers = { Authorization: `Bearer ${address?.token}` };
  const mcp = new URL("/mcp", address?.url);
  const hub = join(folder, "hub");
  mkdirSync(hub);
  writeConfig(hub, { mcpServers: { everything: servers.everything } });
  return [
    await connect("direct stdio", () => new StdioClientTransport({ command, args, stderr: "ignore" }), {
      tool: "echo",
    }),
    await connect(
      "PML stdio",
      () => new StdioClientTransport({ command, args: [PML, "mcp"], env: testEnvironment({ home }) }),
      own,
    ),
    await startHttp("direct HTTP", "echo", async (port) =>
      startChild(command, [...args, "streamableHttp"], { PORT: String(port) }),
    ),
    await connect("PML HTTP", () => new StreamableHTTPClientTransport(mcp, { requestInit: { headers } }), {
      ...own,
      address: { url: mcp.href, headers },
      ending: () => daemon[Symbol.asyncDispose](),
    }),
    await startHttp("mcp-hub", "everything__echo", async (port) =>
      startChild(join(peers, "mcp-hub"), ["--port", String(port), "--config", join(hub, "pml.json")]),
    ),
    await startHttp("mcp-proxy", "echo", async (port) =>
      startChild(join(peers, "mcp-proxy"), ["--port", String(port), "--host", "127.0.0.1", "--", command, ...args]),
    ),
    await startHttp("supergateway", "echo", async (port) =>
      startChild(join(peers, "supergateway"), [
        "--stdio",
        [command, ...args].join(" "),
        "--outputTransport",
        "streamableHttp",
        "--stateful",
        "--port",
        String(port),
        "--logLevel",
        "none",
      ]),
    ),
    await startHttp("no gateway", "echo", async (port) =>
      startChild(command, [join(import.meta.dirname, "canned-server.ts")], { PORT: String(port) }),
    ),
  ];
}

interface TargetOptions {
  readonly tool: string;
  readonly pid?: number;
  readonly address?: Omit<HttpTarget, "kind">;
  readonly ending?: () => PromiseLike<void>;
}

async function connect(name: string, open: () => Transport, options: TargetOptions): Promise<GatewayTarget> {
  const { tool, pid, address, ending } = options;
  const client = await retry(name, async () => {
    const candidate = new Client({ name: "bench", version: "1.0.0" });
    await candidate.connect(open());
    await candidate.callTool({ name: tool, arguments: { message: "ready?" } });
    return candidate;
  });
  return {
    name,
    client,
    tool,
    ...(pid === undefined ? {} : { pid }),
    ...(address === undefined ? {} : { http: { ...address, kind: kindOf(client) } }),
    async [Symbol.asyncDispose]() {
      await client.close();
      await ending?.();
    },
  };
}

function kindOf({ transport }: Client): HttpTarget["kind"] {
  return transport instanceof SSEClientTransport ? "sse" : "streamable";
}

type StartOnPort = (port: number) => Promise<{ pid: number } & AsyncDisposable>;

async function startHttp(name: string, tool: string, start: StartOnPort): Promise<GatewayTarget> {
  const port = await freePort();
  const child = await start(port);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  let sse = false;
  const open = (): Transport => {
    sse = !sse; // some support only the old transport, at the same address
    return sse ? new StreamableHTTPClientTransport(url) : new SSEClientTransport(url);
  };
  const address = { url: url.href, headers: {} };
  return connect(name, open, { tool, pid: child.pid, address, ending: () => child[Symbol.asyncDispose]() });
}

async function retry<T>(name: string, attempt: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${name} could not be reached`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
