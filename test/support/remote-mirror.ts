import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createMirror } from "./mirror.ts";

export interface RemoteMirror extends AsyncDisposable {
  readonly url: string;
  /** Headers of every request, in order. */
  readonly requests: readonly IncomingHttpHeaders[];
}

/** The mirror behind a URL, in both eras. */
export async function startRemoteMirror(): Promise<RemoteMirror> {
  const requests: IncomingHttpHeaders[] = [];
  const serve = toNodeHandler(createMcpHandler(createMirror));
  const server = createServer((request, response) => {
    requests.push(request.headers);
    void serve(request as IncomingMessage & NodeIncomingMessageLike, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
