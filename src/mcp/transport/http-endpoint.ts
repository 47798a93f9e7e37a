import type { IncomingMessage, ServerResponse } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import { createMcpHandler, isLegacyRequest, type ServerNotifier } from "@modelcontextprotocol/server";
import { type GuardedRequest, principalOf } from "../../auth/caller.ts";
import type { Logger } from "../../base/log.ts";
import type { Account, Accounts } from "../server/accounts.ts";
import type { ServerFactories } from "../server/connections.ts";
import type { Gateway } from "../server/gateway.ts";
import { LegacySessions } from "./legacy-sessions.ts";
import { LimitReached } from "../server/principal-limits.ts";
import { type ParsedText, parseText } from "./parse-message.ts";
import { refuse, refuseLimit } from "./refuse-request.ts";
import { isListen, listenedResources, namesOf, watchListened } from "../server/resource-subscriptions.ts";
import { adoptTraceHeaders } from "./trace-headers.ts";

export interface HttpEndpointOptions {
  readonly gateway: Gateway;
  readonly factories: ServerFactories;
  readonly accounts: Accounts;
  readonly maxBodyBytes: number;
  readonly log: Logger;
}

export interface HttpEndpoint extends AsyncDisposable {
  handle(request: GuardedRequest, response: ServerResponse): Promise<void>;
}

/** Serves both eras on one address: requests of the current protocol are stateless, those of 2025 belong to a session. */
export function createHttpEndpoint(options: HttpEndpointOptions): HttpEndpoint {
  const { gateway, factories, accounts, maxBodyBytes, log } = options;
  const onerror = (error: Error): void => log.debug({ error: error.message }, "mcp over http");
  const modern = createMcpHandler(factories.requestFactory, {
    legacy: "reject",
    maxRequestBodySize: maxBodyBytes,
    // streams are counted per principal, and a refusal names the configuration key
    maxSubscriptions: Number.POSITIVE_INFINITY,
    onerror,
  });
  const serveModern = toNodeHandler(modern);
  const sessions = new LegacySessions({ factory: factories.factory, accounts, onerror });
  const stop = announceChanges(gateway, modern.notify);

  const serve = async (request: GuardedRequest, response: ServerResponse): Promise<void> => {
    if (!METHODS.includes(request.method ?? "")) {
      response.setHeader("Allow", METHODS.join(", "));
      return refuse(response, 405, `Method not allowed: ${request.method}`);
    }
    const account = accounts.of(principalOf(request.auth));
    const body = await admit(account, request, maxBodyBytes);
    if (body.kind === "refused") return refuse(response, 400, body.message, body.code);
    if (body.kind === "too large")
      throw accounts.refuse("http.maxBodyBytes", maxBodyBytes, { what: "The body is too large" });
    adoptTraceHeaders(request.headers, body.value);
    if (request.method === "GET" || isListen(body.value)) {
      accounts.quota("subscriptions").take(listenedResources(body.value).length);
      keepAsStream(account, request, response);
    } else if (isRequest(body.value)) {
      const place = account.requests.take();
      response.on("close", () => place[Symbol.dispose]());
    }
    const incoming = request as IncomingMessage & NodeIncomingMessageLike;
    const legacy =
      belongsToSession(request) || (await isLegacyRequest(await toWebRequest(incoming, body.value), body.value));
    if (legacy) return sessions.handle(request, response, body.value);
    const watches = watchListened(gateway, body.value);
    response.once("close", () => void watches.then((watch) => watch[Symbol.asyncDispose]()));
    await watches;
    await serveModern(incoming, response, body.value);
  };
  return {
    async handle(request, response) {
      try {
        await serve(request, response);
      } catch (error) {
        if (!(error instanceof LimitReached) || response.headersSent) throw error;
        refuseLimit(response, error);
      }
    },
    async [Symbol.asyncDispose]() {
      stop();
      await modern.close();
      await sessions.close();
    },
  };
}

const METHODS = ["GET", "POST", "DELETE"];
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Counts a response as a stream instead of a request, and ends it when its token expires. */
function keepAsStream(account: Account, { auth }: GuardedRequest, response: ServerResponse): void {
  const place = account.streams.take();
  const leftMs = auth?.expiresAt === undefined ? undefined : auth.expiresAt * 1000 - Date.now();
  const timer =
    leftMs === undefined ? undefined : setTimeout(() => response.destroy(), Math.min(leftMs, LONGEST_TIMER_MS)).unref();
  response.once("close", () => {
    clearTimeout(timer);
    place[Symbol.dispose]();
  });
}

/** The current protocol has no sessions, so the header decides without the body. */
function belongsToSession({ headers }: IncomingMessage): boolean {
  return headers["mcp-session-id"] !== undefined;
}

function announceChanges(gateway: Gateway, notify: ServerNotifier): () => void {
  const stopLists = gateway.onListChanged((kinds) => {
    if (kinds.has("tools")) notify.toolsChanged();
    if (kinds.has("prompts")) notify.promptsChanged();
    if (kinds.has("resources")) notify.resourcesChanged();
  });
  const stopUpdates = gateway.upstreams.onResourceUpdate((update) => {
    for (const uri of namesOf(gateway, update)) notify.resourceUpdated(uri);
  });
  return () => {
    stopLists();
    stopUpdates();
  };
}

type Body = ParsedText | { readonly kind: "too large" };

/** A client reads the answer only after it has sent everything: the rest of a large body is read and discarded, up to this size. */
const MOST_FORGOTTEN_BYTES = 32 * 1024 * 1024;

async function admit(account: Account, request: IncomingMessage, limit: number): Promise<Body> {
  using _place = account.admit();
  if (request.method !== "POST") return { kind: "parsed", value: undefined };
  const body = await readBytes(request, limit);
  return body === undefined ? { kind: "too large" } : parseText(body.toString("utf8"));
}

/** Includes batches, which one of the older protocols allows. */
function isRequest(body: unknown): boolean {
  return Array.isArray(body) || (typeof body === "object" && body !== null && "id" in body && "method" in body);
}

/** Returns undefined if the body exceeds the limit. Uses events: an async iterator takes longer than a small body. */
function readBytes(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const end = (): void => {
      const [only, ...others] = chunks;
      if (size > limit) resolve(undefined);
      else resolve(only === undefined || others.length > 0 ? Buffer.concat(chunks) : only);
    };
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else chunks.length = 0;
      if (size <= limit + MOST_FORGOTTEN_BYTES) return;
      end();
      request.destroy();
    });
    request.on("end", end).on("error", reject);
    request.on("close", () => {
      if (!request.complete) reject(new Error("the request was broken off"));
    });
  });
}
