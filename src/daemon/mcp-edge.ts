import type { OpenKind } from "../http/metrics.ts";
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
  readonly count: (kind: OpenKind) => number;
}

export function createMcpEdge({ gateway, config, token, log, onLimitReached }: McpEdgeOptions): McpEdge {
  const accounts = new Accounts({ limits: config.limits, onReached: onLimitReached });
  const connections = createConnections({ gateway, accounts, secret: token });
  const shared = { gateway, accounts, log };
  return {
    shims: createStdioConnections({ ...shared, factory: connections.factory }),
    endpoint: createHttpEndpoint({ ...shared, connections, maxBodyBytes: config.http.maxBodyBytes }),
    count: (kind) => (kind === "told" ? connections.count : accounts.count(kind)),
    [Symbol.dispose]: () => connections[Symbol.dispose](),
  };
}
