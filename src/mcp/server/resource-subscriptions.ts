import type { JSONRPCMessage, McpServer, RequestId, Transport } from "@modelcontextprotocol/server";
import type { ResourceUpdate } from "../../upstream/upstreams.ts";
import type { Accounts } from "./accounts.ts";
import type { Gateway } from "./gateway.ts";
import { LimitReached, type Quota } from "./principal-limits.ts";

/** Serves subscriptions of the 2025 era, which belong to a connection and end with it. */
export function handleSubscriptions({ server }: McpServer, gateway: Gateway, places: Quota): void {
  const watched = new Map<string, Promise<AsyncDisposable>>();
  const end = async (uri: string): Promise<void> => {
    const watch = watched.get(uri);
    watched.delete(uri);
    await (await watch?.catch(() => undefined))?.[Symbol.asyncDispose](); // it failed, and the subscriber got the error
  };
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    const tell = (): void => void server.sendResourceUpdated({ uri }).catch(() => undefined); // the client is gone
    const watch = watched.get(uri) ?? keep(places.take(), watchResource(gateway, uri, tell));
    watched.set(uri, watch);
    await watch.catch((error: unknown) => {
      watched.delete(uri);
      throw error;
    });
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params: { uri } }) => {
    await end(uri);
    return {};
  });
  const { onclose } = server;
  server.onclose = () => {
    onclose?.();
    for (const uri of watched.keys()) void end(uri);
  };
}

async function watchResource(gateway: Gateway, uri: string, onUpdate: () => void): Promise<AsyncDisposable> {
  const target = gateway.names.resolveResource(uri);
  await using stack = new AsyncDisposableStack();
  stack.use(await target.upstream.watch(target.name));
  stack.defer(
    gateway.upstreams.onResourceUpdate((update) => {
      if (update.server === target.server && update.uri === target.name) onUpdate();
    }),
  );
  return stack.move();
}

/** The names under which clients may know a resource: as it is listed, and as links in results have it. */
export function namesOf(gateway: Gateway, { server, uri }: ResourceUpdate): Set<string> {
  return new Set([uri, gateway.surface.wrapUri(server, uri)]);
}

/**
 * Watches resources as long as a client of the current protocol listens. A resource that cannot be watched (unknown,
 * or its server is down) is left out.
 */
export async function watchListened(gateway: Gateway, request: unknown): Promise<AsyncDisposable> {
  const watches = await Promise.allSettled(
    listenedResources(request).map(async (uri) => {
      const target = gateway.names.resolveResource(uri);
      return target.upstream.watch(target.name);
    }),
  );
  const stack = new AsyncDisposableStack();
  for (const watch of watches) if (watch.status === "fulfilled") stack.use(watch.value);
  return stack;
}

/** Ties a watch to the quota it takes. */
async function keep(place: Disposable, watch: Promise<AsyncDisposable>): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(place);
  stack.use(await watch);
  return stack.move();
}

interface Listening {
  readonly place: Disposable;
  readonly watch: Promise<AsyncDisposable>;
}

/** Does the same for a connection that carries many requests: cancelling the request, or its end, ends the watch. */
export function followListening(gateway: Gateway, accounts: Accounts, connection: Transport): Disposable {
  const streams = accounts.quota("streams");
  const open = new Map<unknown, Listening>();
  const begin = (message: JSONRPCMessage): Listening => {
    accounts.quota("subscriptions").take(listenedResources(message).length);
    return { place: streams.take(), watch: watchListened(gateway, message) };
  };
  const end = (id: unknown): void => {
    const listening = open.get(id);
    listening?.place[Symbol.dispose]();
    void listening?.watch.then((watch) => watch[Symbol.asyncDispose]());
    open.delete(id);
  };
  const { onmessage } = connection;
  connection.onmessage = (message, extra) => {
    const { id, method, params } = message as IncomingMessage;
    if (method === "notifications/cancelled") end(params?.requestId);
    if (isListen(message)) {
      end(id);
      try {
        open.set(id, begin(message));
      } catch (error) {
        void connection.send(toErrorAnswer(id, error));
        return;
      }
    }
    onmessage?.(message, extra);
  };
  return {
    [Symbol.dispose]() {
      for (const id of open.keys()) end(id);
    },
  };
}

function toErrorAnswer(id: RequestId | undefined, error: unknown): JSONRPCMessage {
  if (!(error instanceof LimitReached)) throw error;
  const { code, message, data } = error;
  return { jsonrpc: "2.0", id, error: { code, message, data } };
}

interface IncomingMessage {
  readonly id?: RequestId;
  readonly method?: unknown;
  readonly params?: {
    readonly requestId?: unknown;
    readonly notifications?: { readonly resourceSubscriptions?: unknown };
  };
}

export function isListen(message: unknown): boolean {
  return typeof message === "object" && message !== null && "method" in message && message.method === LISTEN;
}

export function listenedResources(message: unknown): string[] {
  if (!isListen(message)) return [];
  const uris = (message as IncomingMessage).params?.notifications?.resourceSubscriptions;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}

const LISTEN = "subscriptions/listen";
