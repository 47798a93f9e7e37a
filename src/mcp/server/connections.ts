import { randomUUID } from "node:crypto";
import {
  createRequestStateCodec,
  type McpServer,
  type McpServerFactory,
  type RequestStateCodec,
} from "@modelcontextprotocol/server";
import { principalOf } from "../../auth/caller.ts";
import type { Accounts } from "./accounts.ts";
import type { ConnectionForms } from "./connection-forms.ts";
import type { Gateway, ListKind } from "./gateway.ts";
import { createGatewayServer } from "./gateway-server.ts";
import type { RequestState } from "../relay.ts";
import type { Surface, ToolNames } from "../../catalogue/surface.ts";

/** The protocol servers of open connections, which are notified when a list changes. */
export interface Connections extends Disposable {
  /** Lists tools under the given names, by default as configured. */
  createFactories(names?: ToolNames): ServerFactories;
  /** Builds the server of a shim; the forms are those of its one connection. */
  createShimFactory(forms: ConnectionForms | undefined): McpServerFactory;
  readonly count: number;
}

export interface ServerFactories {
  /** Builds a server for a connection or session, which is notified until it closes. */
  readonly factory: McpServerFactory;
  /** Builds a server for a single request, which is never notified; the SDK does not close all of them. */
  readonly requestFactory: McpServerFactory;
}

export interface ConnectionsOptions {
  readonly gateway: Gateway;
  readonly accounts: Accounts;
  /** Seals the state of questions. */
  readonly secret: string;
}

export function createConnections({ gateway, accounts, secret }: ConnectionsOptions): Connections {
  const codec: RequestStateCodec<RequestState> = createRequestStateCodec<RequestState>({
    key: secret,
    // only the principal who was asked may answer
    bind: ({ http }) => principalOf(http?.authInfo)?.id ?? "",
  });
  /** Maps each server to the surface its client knows; one that opened after a change is not notified of it. */
  const open = new Map<McpServer, Surface>();
  const stop = gateway.onListChanged((kinds) => {
    for (const [server, seen] of open) {
      if (seen !== gateway.surface) tell(server, kinds);
      open.set(server, gateway.surface);
    }
  });
  const parts = { gateway, accounts, codec };
  const keep = (server: McpServer): McpServer => {
    open.set(server, gateway.surface);
    const { onclose } = server.server;
    server.server.onclose = () => {
      onclose?.();
      open.delete(server);
    };
    return server;
  };
  return {
    get count() {
      return open.size;
    },
    createFactories: (names) => ({
      requestFactory: () => createGatewayServer({ ...parts, names, connection: "" }),
      factory: () => keep(createGatewayServer({ ...parts, names, connection: randomUUID() })),
    }),
    createShimFactory(forms) {
      const connection = randomUUID();
      return () => keep(createGatewayServer({ ...parts, names: undefined, forms, connection }));
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
