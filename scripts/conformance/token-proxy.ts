import { once } from "node:events";
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TokenProxy extends AsyncDisposable {
  readonly url: string;
}

/** Listens on loopback and forwards to a gateway; only adds its token, because the suite cannot send one. */
export async function startTokenProxy(target: { readonly url: string; readonly token: string }): Promise<TokenProxy> {
  const server = createServer((request, response) => forward(request, response, target));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { url, token }: { readonly url: string; readonly token: string },
): void {
  const { hostname, port } = new URL(url);
  const outgoing = sendRequest({
    hostname,
    port,
    method: request.method,
    path: request.url,
    // The raw form preserves Host, Origin and the case of every name.
    headers: [...request.rawHeaders, "Authorization", `Bearer ${token}`],
  });
  outgoing.once("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    response.flushHeaders(); // a stream may be silent for long
    answer.pipe(response);
  });
  outgoing.on("error", () => response.destroy());
  response.once("close", () => outgoing.destroy());
  request.pipe(outgoing);
}
