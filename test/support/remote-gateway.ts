import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { freePort } from "./free-port.ts";
import { type GatewayHome, startGateway } from "./gateway-home.ts";
import { type RawAnswer, type RawRequest, sendRaw } from "./raw-http.ts";

/** A gateway for remote use, and the authorization server that it trusts. */
export interface RemoteGateway extends AsyncDisposable {
  readonly home: GatewayHome;
  readonly issuer: AuthorizationServer;
  /** Its address, without a path. */
  readonly url: string;
  readonly send: (request: RawRequest, token?: string) => Promise<RawAnswer>;
  connect(token: string, era: "legacy" | "auto"): Promise<Client & AsyncDisposable>;
}

export interface RemoteGatewayOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Further settings of `auth`. */
  readonly auth?: Readonly<Record<string, unknown>>;
}

export async function startRemoteGateway(
  mcpServers: Readonly<Record<string, McpServerEntry>>,
  { env = {}, config = {}, auth: more = {} }: RemoteGatewayOptions = {},
): Promise<RemoteGateway> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const resource = `${url}/mcp`;
  await using starting = new AsyncDisposableStack();
  const issuer = starting.use(await startAuthorizationServer({ audience: resource }));
  const auth = { issuers: [issuer.issuer], resource, scopes: ["mcp"], ...more };
  const home = starting.use(
    await startGateway(mcpServers, { env: { ...env, PML_PORT: String(port) }, config: { auth, ...config } }),
  );
  const started = starting.move();
  return {
    home,
    issuer,
    url,
    send: (request, token) =>
      sendRaw(url, {
        ...request,
        headers: { ...request.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      }),
    async connect(token, era) {
      const client = new Client({ name: "remote", version: "1.0.0" }, { versionNegotiation: { mode: era } });
      const headers = { Authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(new URL(resource), { requestInit: { headers } }));
      return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
