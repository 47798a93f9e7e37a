import type { Duplex } from "node:stream";
import { McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Logger } from "../../base/log.ts";
import type { Accounts } from "../server/accounts.ts";
import type { Gateway } from "../server/gateway.ts";
import { LineTransport } from "./line-transport.ts";
import { followListening, namesOf } from "../server/resource-subscriptions.ts";
import { GOODBYE } from "./stdio-bridge.ts";

export interface StdioConnections extends AsyncDisposable {
  readonly count: number;
  /** `authentic`: the shim has proved that it is one. */
  accept(socket: Duplex, authentic: boolean): void;
}

export interface StdioConnectionsOptions {
  readonly gateway: Gateway;
  /** Makes the factory for one connection. */
  readonly createFactory: (authentic: boolean) => McpServerFactory;
  readonly accounts: Accounts;
  readonly log: Logger;
}

/** Connections of clients through a shim: each socket carries its stdin and stdout. */
export function createStdioConnections(options: StdioConnectionsOptions): StdioConnections {
  const { gateway, createFactory, accounts, log } = options;
  const open = new Map<Duplex, () => Promise<void>>();
  return {
    get count() {
      return open.size;
    },
    accept(socket, authentic) {
      const transport = new LineTransport(socket);
      const handle = serveStdio(serveOn(gateway, createFactory(authentic)), {
        transport,
        maxSubscriptions: Number.POSITIVE_INFINITY, // counted below, where a refusal names the configuration key
        onerror: (error) => log.debug({ error: error.message }, "stdio connection"),
      });
      const listening = followListening(gateway, accounts, transport);
      open.set(socket, () => handle.close());
      // The HTTP server leaves sockets half open after the peer's end.
      socket.once("end", () => socket.end());
      socket.once("close", () => {
        open.delete(socket);
        listening[Symbol.dispose]();
        handle.close().catch((error: unknown) => log.debug({ error: String(error) }, "closing a stdio connection"));
      });
    },
    async [Symbol.asyncDispose]() {
      const closing = [...open].map(async ([socket, close]) => {
        socket.write(`${GOODBYE}\n`);
        await close();
        socket.end();
      });
      await Promise.allSettled(closing);
    },
  };
}

/** Sends all updates on connections of the current protocol, which filter by what the client listens to. */
function serveOn(gateway: Gateway, factory: McpServerFactory): McpServerFactory {
  return async (context) => {
    const product = await factory(context);
    if (context.era === "legacy") return product;
    const server = product instanceof McpServer ? product.server : product;
    const stop = gateway.upstreams.onResourceUpdate((update) => {
      for (const uri of namesOf(gateway, update)) server.sendResourceUpdated({ uri }).catch(() => undefined); // the connection is closing
    });
    const { onclose } = server;
    server.onclose = () => {
      onclose?.();
      stop();
    };
    return product;
  };
}
