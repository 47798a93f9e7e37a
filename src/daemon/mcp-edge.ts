import type { Config } from "../config/load-config.ts";
import type { Logger } from "../log.ts";
import { Accounts } from "../mcp/accounts.ts";
import { createConnections } from "../mcp/connections.ts";
import type { Gateway } from "../mcp/gateway.ts";
import { createHttpEndpoint, type HttpEndpoint } from "../mcp/http-endpoint.ts";
import { createStdioConnections, type StdioConnections } from "../mcp/stdio-connections.ts";

export interface McpEdgeOptions {
  readonly gateway: Gateway;
  readonly config: Config;
  readonly token: string;
  readonly log: Logger;
  readonly onLimitReached: (key: string) => void;
}

/** Where MCP clients come in. The two ways in are ended by whoever ends what they come through. */
export interface McpEdge extends Disposable {
  readonly shims: StdioConnections;
  readonly endpoint: HttpEndpoint;
  readonly count: (kind: "sessions" | "streams") => number;
}

export function createMcpEdge({ gateway, config, token, log, onLimitReached }: McpEdgeOptions): McpEdge {
  const accounts = new Accounts({ limits: config.limits, onReached: onLimitReached });
  const connections = createConnections({ gateway, accounts, secret: token });
  const shared = { gateway, factory: connections.factory, accounts, log };
  return {
    shims: createStdioConnections(shared),
    endpoint: createHttpEndpoint({ ...shared, maxBodyBytes: config.http.maxBodyBytes }),
    count: (kind) => accounts.count(kind),
    [Symbol.dispose]: () => connections[Symbol.dispose](),
  };
}
