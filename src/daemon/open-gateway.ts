import type { App } from "../app.ts";
import type { Config } from "../config/load-config.ts";
import type { Logger } from "../log.ts";
import { createConnections } from "../mcp/connections.ts";
import { Gateway } from "../mcp/gateway.ts";
import { createHttpAddresses } from "../mcp/http-addresses.ts";
import { createHttpEndpoint, type HttpEndpoint } from "../mcp/http-endpoint.ts";
import { createOwnTools } from "../mcp/own-tools.ts";
import { createStdioConnections, type StdioConnections } from "../mcp/stdio-connections.ts";

export interface OpenGateway extends Disposable {
  readonly gateway: Gateway;
  /** Clients that came through a shim. */
  readonly shims: StdioConnections;
  /** Clients that speak HTTP. */
  readonly endpoint: HttpEndpoint;
}

export interface GatewayParts {
  readonly app: App;
  readonly config: Config;
  readonly token: string;
  readonly log: Logger;
}

/** The gateway and the ways into it. Shims and endpoint are ended by whoever serves them, before the rest. */
export function openGateway({ app, config, token, log }: GatewayParts): OpenGateway {
  using opening = new DisposableStack();
  const { upstreams, usage, results } = app;
  const gateway = opening.use(new Gateway({ upstreams, usage, results, settings: config, createOwnTools, log }));
  const connections = opening.use(createConnections(gateway, token));
  const { maxBodyBytes } = config.http;
  const endpoint = createHttpAddresses((names) =>
    createHttpEndpoint({ gateway, factory: connections.createFactory(names), maxBodyBytes, log }),
  );
  const shims = createStdioConnections(gateway, connections.createFactory(), log);
  const open = opening.move();
  return { gateway, shims, endpoint, [Symbol.dispose]: () => open.dispose() };
}
