import type { Duplex } from "node:stream";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Logger } from "../log.ts";
import { GOODBYE } from "./stdio-bridge.ts";

export interface StdioConnections extends AsyncDisposable {
  readonly count: number;
  accept(socket: Duplex): void;
}

/** The clients that are connected through a shim: each socket carries what its stdin and stdout would. */
export function createStdioConnections(factory: McpServerFactory, log: Logger): StdioConnections {
  const open = new Map<Duplex, () => Promise<void>>();
  return {
    get count() {
      return open.size;
    },
    accept(socket) {
      const handle = serveStdio(factory, {
        transport: new StdioServerTransport(socket, socket),
        onerror: (error) => log.debug({ error: error.message }, "stdio connection"),
      });
      open.set(socket, () => handle.close());
      // The HTTP server leaves its sockets half open when the peer has ended.
      socket.once("end", () => socket.end());
      socket.once("close", () => {
        open.delete(socket);
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
