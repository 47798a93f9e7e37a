import type { App } from "../app.ts";
import type { Config } from "../config/load-config.ts";
import type { Logger } from "../log.ts";
import { Accounts } from "../mcp/accounts.ts";
import { createConnections } from "../mcp/connections.ts";
import { Gateway } from "../mcp/gateway.ts";
import { createHttpAddresses } from "../mcp/http-addresses.ts";
import { createHttpEndpoint, type HttpEndpoint } from "../mcp/http-endpoint.ts";
import { createOwnTools } from "../mcp/own-tools.ts";
import { createStdioConnections, type StdioConnections } from "../mcp/stdio-connections.ts";

export interface McpEdgeOptions {
  readonly app: App;
  readonly config: Config;
  readonly token: string;
  readonly log: Logger;
  readonly onLimitReached: (key: string) => void;
}

/** The gateway and where MCP clients come in. The two ways in are ended by whoever ends what they come through. */
export interface McpEdge extends Disposable {
  readonly gateway: Gateway;
  readonly shims: StdioConnections;
  readonly endpoint: HttpEndpoint;
  readonly count: (kind: "sessions" | "streams") => number;
}

export function createMcpEdge({ app, config, token, log, onLimitReached }: McpEdgeOptions): McpEdge {
  using opening = new DisposableStack();
  const { upstreams, usage, results } = app;
  const gateway = opening.use(new Gateway({ upstreams, usage, results, settings: config, createOwnTools, log }));
  const accounts = new Accounts({ limits: config.limits, onReached: onLimitReached });
  const connections = opening.use(createConnections({ gateway, accounts, secret: token }));
  const shared = { gateway, accounts, log };
  const { maxBodyBytes } = config.http;
  const open = opening.move();
  return {
    gateway,
    shims: createStdioConnections({ ...shared, factory: connections.createFactory() }),
    endpoint: createHttpAddresses((names) =>
      createHttpEndpoint({ ...shared, factory: connections.createFactory(names), maxBodyBytes }),
    ),
    count: (kind) => accounts.count(kind),
    [Symbol.dispose]: () => open.dispose(),
  };
}
