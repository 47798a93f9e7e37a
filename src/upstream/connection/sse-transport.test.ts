import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { SseTransport } from "./sse-transport.ts";

/** Opens a stream of events and says nothing in it. */
async function startSilentServer(): Promise<{ readonly url: URL; readonly asked: Promise<unknown> } & AsyncDisposable> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  });
  const asked = once(server, "request");
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`),
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

test("a server that never says where to send messages is not waited for any longer than allowed", async () => {
  await using server = await startSilentServer();
  const transport = new SseTransport(server.url, {}, 200);
  await expect(transport.start()).rejects.toThrow("Request timed out");
  await transport.close();
});

test("a start ends when the transport is closed", async () => {
  await using server = await startSilentServer();
  const transport = new SseTransport(server.url, {}, 60_000);
  const starting = transport.start();
  await server.asked;
  await transport.close();
  await expect(starting).rejects.toThrow("Connection closed");
});
