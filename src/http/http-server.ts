import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { GuardedRequest } from "../auth/caller.ts";
import { PmlError, toErrorReport } from "../errors.ts";
import type { Logger } from "../log.ts";
import { describePortOwner } from "../port-owner.ts";
import { contextOf, traced } from "../tracing.ts";
import { type Access, guard, type GuardSettings } from "./guard.ts";

export interface Route {
  /** "*" leaves it to the handler. */
  readonly method: "GET" | "POST" | "*";
  readonly path: string;
  /** Left out: only for whoever has the local token. */
  readonly access?: Access;
  handle(request: GuardedRequest, response: ServerResponse): Promise<void>;
}

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether somebody asked for this port; otherwise the next free one will do. */
  readonly portChosen: boolean;
  readonly guard: GuardSettings;
  readonly routes: readonly Route[];
  /** Takes over the connection of a client that asked for `upgrade`. */
  readonly onUpgrade: (upgrade: string, socket: Duplex) => void;
  readonly onFinished: (route: string, status: number, seconds: number) => void;
  readonly log: Logger;
}

export interface HttpServer extends AsyncDisposable {
  readonly port: number;
}

export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer((request, response) => void serve(request, response, options));
  server.on("upgrade", (request: IncomingMessage, socket: Duplex) => void upgrade(request, socket, options));
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      // Clients keep connections open after an answer; each is closed as soon as it is idle.
      const sweep = setInterval(() => server.closeIdleConnections(), 20);
      // A request that is being answered may finish, but not hold up the end for long.
      const impatient = setTimeout(() => server.closeAllConnections(), 2_000);
      await closed;
      clearInterval(sweep);
      clearTimeout(impatient);
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, options: HttpServerOptions): Promise<void> {
  const started = performance.now();
  const path = new URL(request.url ?? "/", "http://gateway").pathname;
  const route = options.routes.find(
    (known) => known.path === path && (known.method === "*" || known.method === request.method),
  );
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.once("close", () => {
    options.onFinished(route?.path ?? "none", response.statusCode, (performance.now() - started) / 1000);
  });
  const refusal = await guard(request, route?.access ?? "owner", options.guard);
  if (refusal !== undefined) {
    response.writeHead(refusal.status, refusal.headers).end(refusal.body);
    return;
  }
  if (route === undefined) {
    sendError(response, 404, new PmlError("usage", `Nothing is served at ${request.method} ${path}`));
    return;
  }
  try {
    const attributes = { "http.route": route.path };
    await traced("http.request", attributes, () => route.handle(request, response), contextOf(request.headers));
  } catch (error) {
    options.log.error(
      { route: route.path, error: error instanceof Error ? error.stack : String(error) },
      "request failed",
    );
    sendError(response, 500, error);
  }
}

async function upgrade(request: IncomingMessage, socket: Duplex, options: HttpServerOptions): Promise<void> {
  socket.on("error", () => socket.destroy()); // the peer is gone; there is nobody to tell
  const refusal = await guard(request, "owner", options.guard);
  if (refusal !== undefined) {
    socket.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nConnection: close\r\n\r\n`);
    return;
  }
  options.onUpgrade(request.headers.upgrade ?? "", socket);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(`${JSON.stringify(body)}\n`);
}

/** After the first byte of an answer its status cannot change any more: then the connection is cut. */
function sendError(response: ServerResponse, status: number, error: unknown): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, status, { ok: false, error: toErrorReport(error) });
}

const PORTS_TO_TRY = 20;

async function listen(server: Server, options: HttpServerOptions): Promise<void> {
  const { host, port, portChosen, log } = options;
  for (let candidate = port; ; candidate += 1) {
    try {
      await tryListen(server, host, candidate);
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      if (error.code !== "EADDRINUSE") throw cannotListen(host, candidate, error);
      if (portChosen || candidate === port + PORTS_TO_TRY) throw portTaken(candidate, error);
      log.warn({ port: candidate, owner: describePortOwner(candidate) }, "port is taken, trying the next one");
    }
  }
}

function tryListen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function portTaken(port: number, cause: Error): PmlError {
  const owner = describePortOwner(port);
  return new PmlError("port_taken", `Port ${port} is taken${owner === undefined ? "" : ` by ${owner}`}`, {
    hint: "Stop that process, or use another port: pml serve --port 0 (any free one)",
    details: { port, ...(owner === undefined ? {} : { owner }) },
    cause,
  });
}

function cannotListen(host: string, port: number, cause: Error): PmlError {
  return new PmlError("port_taken", `Cannot listen on ${host}:${port}: ${cause.message}`, {
    hint: "Use an address of this machine and a port above 1023: pml serve --host 127.0.0.1 --port 7650",
    details: { host, port },
    cause,
  });
}
