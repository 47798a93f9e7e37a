import {
  createRequestStateCodec,
  type McpServer,
  type McpServerFactory,
  type RequestStateCodec,
} from "@modelcontextprotocol/server";
import { principalOf } from "../auth/caller.ts";
import type { Accounts } from "./accounts.ts";
import type { Gateway, ListKind } from "./gateway.ts";
import { createGatewayServer } from "./gateway-server.ts";
import type { RequestState } from "./relay.ts";

/** The servers of open connections, which have to be told when a list changes. */
export interface Connections extends Disposable {
  /** Builds a server for a connection, session or single request. */
  readonly factory: McpServerFactory;
}

export interface ConnectionsOptions {
  readonly gateway: Gateway;
  readonly accounts: Accounts;
  /** With which the state of questions is sealed. */
  readonly secret: string;
}

export function createConnections({ gateway, accounts, secret }: ConnectionsOptions): Connections {
  const codec: RequestStateCodec<RequestState> = createRequestStateCodec<RequestState>({
    key: secret,
    // only whoever was asked may answer
    bind: ({ http }) => principalOf(http?.authInfo)?.id ?? "",
  });
  const open = new Set<McpServer>();
  const stop = gateway.onListChanged((kinds) => {
    for (const server of open) tell(server, kinds);
  });
  return {
    factory() {
      const server = createGatewayServer({ gateway, accounts, codec });
      open.add(server);
      const { onclose } = server.server;
      server.server.onclose = () => {
        onclose?.();
        open.delete(server);
      };
      return server;
    },
    [Symbol.dispose]: stop,
  };
}

function tell(server: McpServer, kinds: ReadonlySet<ListKind>): void {
  if (!server.isConnected()) return;
  if (kinds.has("tools")) server.sendToolListChanged();
  if (kinds.has("prompts")) server.sendPromptListChanged();
  if (kinds.has("resources")) server.sendResourceListChanged();
}
