import type { Client } from "@modelcontextprotocol/client";
import { createServerDatabase } from "./databases.ts";
import { type GatewayHome, startGateway } from "./gateway-home.ts";
import { connectClient } from "./mcp-client.ts";
import { runJson, runPml } from "./pml.ts";

interface TenantGateway {
  readonly home: GatewayHome;
  client: Client;
}

export interface TenantGateways extends AsyncDisposable {
  readonly database: string;
  readonly gateways: readonly TenantGateway[];
  /** Ends one of the gateways, starts it again and connects its client anew. */
  restart(index: number): Promise<void>;
}

/** Gateways of several scopes, written `org.project`, on one PostgreSQL database, each with a client. */
export async function startTenants(...scopes: readonly string[]): Promise<TenantGateways> {
  const database = await createServerDatabase();
  const stack = new AsyncDisposableStack();
  const start = async (scope: string): Promise<TenantGateway> => {
    const [org, project] = scope.split(".");
    const home = stack.use(
      await startGateway({}, { env: { DATABASE_URL: database }, config: { scope: { org, project } } }),
    );
    const { client } = stack.use(await connectClient(home.path, { transport: "http", era: "auto" }));
    return { home, client };
  };
  // The first one creates the tables.
  const [first = "", ...others] = scopes;
  const gateways = [await start(first), ...(await Promise.all(others.map(start)))];
  return {
    database,
    gateways,
    async restart(index) {
      const gateway = gateways[index]!;
      const options = { home: gateway.home.path, env: { DATABASE_URL: database } };
      await runPml(["down"], options);
      await runJson(["up"], options);
      ({ client: gateway.client } = stack.use(await connectClient(options.home, { transport: "http", era: "auto" })));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
