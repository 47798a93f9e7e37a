import type { McpServerFactory } from "@modelcontextprotocol/server";
import type { App } from "../app/app.ts";
import type { Config } from "../config/load-config.ts";
import type { OpenKind } from "../http/metrics.ts";
import type { Logger } from "../base/log.ts";
import { Accounts } from "../mcp/server/accounts.ts";
import { ConnectionForms } from "../mcp/server/connection-forms.ts";
import { createConnections } from "../mcp/server/connections.ts";
import { Gateway } from "../mcp/server/gateway.ts";
import { createHttpAddresses } from "../mcp/transport/http-addresses.ts";
import { createHttpEndpoint, type HttpEndpoint } from "../mcp/transport/http-endpoint.ts";
import { createCoreTools } from "../mcp/own-tools/own-tools.ts";
import { createStandardLibrary } from "./standard-library.ts";
import { createStdioConnections, type StdioConnections } from "../mcp/transport/stdio-connections.ts";

export interface OpenGateway extends Disposable {
  readonly gateway: Gateway;
  /** Connections of clients that use a shim. */
  readonly shims: StdioConnections;
  /** Connections of clients that use HTTP. */
  readonly endpoint: HttpEndpoint;
  readonly count: (kind: OpenKind) => number;
}

export interface GatewayParts {
  readonly app: App;
  readonly config: Config;
  readonly token: string;
  readonly log: Logger;
  readonly onLimitReached: (key: string) => void;
  /** The daemon's address for people; known once it listens. */
  readonly url: () => string;
}

/** Opens the gateway and its endpoints. The server disposes of shims and endpoint itself, before the rest. */
export function openGateway({ app, config, token, log, onLimitReached, url }: GatewayParts): OpenGateway {
  using opening = new DisposableStack();
  const { catalogue, upstreams, usage, results, secrets } = app;
  const { scope } = config;
  const approvalUrl = (id: string): string => new URL(`/approvals/${id}`, url()).href;
  const gateway: Gateway = opening.use(
    new Gateway({
      catalogue,
      upstreams,
      usage,
      results,
      secrets,
      settings: config,
      permitCall: app.createPermitCall(approvalUrl),
      scope,
      log,
      createOwnTools: (parts) => ({
        core: createCoreTools({ ...parts, ...app, scope, approvalUrl }),
        library: createStandardLibrary(app, { scope, approvalUrl, gateway: () => gateway }),
      }),
    }),
  );
  const accounts = new Accounts({ limits: config.limits, onReached: onLimitReached });
  const connections = opening.use(createConnections({ gateway, accounts, secret: token }));
  const { maxBodyBytes } = config.http;
  const endpoint = createHttpAddresses((names) =>
    createHttpEndpoint({ gateway, factories: connections.createFactories(names), accounts, maxBodyBytes, log }),
  );
  const createFactory = (authentic: boolean): McpServerFactory => {
    // with `auth` the principals behind a connection are others than the person at this machine
    const counts = authentic && config.auth === undefined;
    const forms = counts ? new ConnectionForms(() => gateway.settings.approvals.forms) : undefined;
    return connections.createShimFactory(forms);
  };
  const shims = createStdioConnections({ gateway, createFactory, accounts, log });
  const open = opening.move();
  const count = (kind: OpenKind): number => (kind === "told" ? connections.count : accounts.count(kind));
  return { gateway, shims, endpoint, count, [Symbol.dispose]: () => open.dispose() };
}
