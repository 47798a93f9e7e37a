import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { GuardedRequest } from "../auth/caller.ts";
import { concealed, PmlError, toErrorReport } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { describePortOwner } from "../base/port-owner.ts";
import { DECISION_KEY_HEADER, type DocumentRoute, type Returned } from "../contract/route.ts";
import { API } from "../contract/routes.ts";
import { contextOf, traced } from "../base/tracing.ts";
import type { DecisionKey } from "./decision-key.ts";
import { type Access, guard, type GuardSettings } from "./guard.ts";

export interface Route {
  /** "*" accepts every method. */
  readonly method: "GET" | "POST" | "*";
  /** `/things/:id` gives the handler `{ id }`. */
  readonly path: string;
  /** Left out: only for the holder of the local token. */
  readonly access?: Access;
  /** Only a person may use it, who proves it with the decision key. */
  readonly decisionKey?: true | undefined;
  handle(request: GuardedRequest, response: ServerResponse, parameters: PathParameters): Promise<void>;
}

type PathParameters = Readonly<Record<string, string>>;

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether the port was configured; otherwise the next free one will do. */
  readonly portChosen: boolean;
  readonly guard: GuardSettings;
  readonly decisionKey: DecisionKey;
  readonly routes: readonly Route[];
  /** The one protocol that a connection can be upgraded to, and its acceptor. */
  readonly upgrade: {
    readonly path: string;
    readonly protocol: string;
    readonly accept: (socket: Duplex, request: IncomingMessage) => void;
  };
  readonly onFinished: (route: string, status: number, seconds: number) => void;
  readonly log: Logger;
}

export interface HttpServer extends AsyncDisposable {
  readonly port: number;
}

export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  // Some clients offer HTTP/2 with every request; they are served over HTTP/1.1.
  const shouldUpgradeCallback = (request: IncomingMessage): boolean => wantsUpgrade(request, options);
  const find = createRouteFinder(options.routes);
  const server = createServer({ shouldUpgradeCallback }, (request, response) => {
    const path = readPath(request);
    void serve(request, response, { path, found: find(request.method, path), options });
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex) => void upgrade(request, socket, options));
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      // Clients keep connections open after an answer; each is closed as soon as it is idle.
      const sweep = setInterval(() => server.closeIdleConnections(), 20);
      // A request in progress may finish within this time.
      const impatient = setTimeout(() => server.closeAllConnections(), 2_000);
      await closed;
      clearInterval(sweep);
      clearTimeout(impatient);
    },
  };
}

interface Serving {
  readonly path: string;
  readonly found: FoundRoute | undefined;
  readonly options: HttpServerOptions;
}

async function serve(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const started = performance.now();
  const { path, found, options } = serving;
  const route = found?.route;
  response.setHeader("X-Content-Type-Options", "nosniff");
  // Without a listener, an answer that cannot be written would end the process.
  response.on("error", (error) => options.log.debug({ path, error: error.message }, "answering failed"));
  response.on("close", () => {
    options.onFinished(route?.path ?? "none", response.statusCode, (performance.now() - started) / 1000);
  });
  try {
    const refusal = await guard(request, route?.access ?? "owner", options.guard);
    if (refusal !== undefined) {
      response.writeHead(refusal.status, refusal.headers).end(refusal.body);
    } else if (found === undefined) {
      sendError(response, 404, notServed(request.method, path));
    } else if (found.route.decisionKey === true && !isPerson(request, options.decisionKey)) {
      sendError(response, 403, notPerson());
    } else {
      await traced(
        "http.request",
        { "http.route": found.route.path },
        () => found.route.handle(request, response, found.parameters),
        contextOf(request.headers),
      );
    }
  } catch (error) {
    if (request.destroyed && !request.complete) return; // the client went away in the middle of its request
    options.log.error({ path, error: error instanceof Error ? error.stack : String(error) }, "request failed");
    sendUnexpected(response, error);
  }
}

function sendUnexpected(response: ServerResponse, error: unknown): void {
  const shown = concealed(error);
  sendError(response, shown.code === "usage" ? 400 : 500, shown);
}

function isPerson({ headers }: IncomingMessage, key: DecisionKey): boolean {
  const given = headers[DECISION_KEY_HEADER];
  return key.matches(typeof given === "string" ? given : undefined);
}

function notPerson(): PmlError {
  return new PmlError("request_refused", "The decision key is missing or wrong", {
    hint: "Decisions are for people: in a terminal, or on the page of the approval",
  });
}

const OLD_API = /^\/api\/(?!v\d+\/)/;

/** Names the place of a route that an older client asks for. */
function notServed(method: string | undefined, path: string): PmlError {
  const moved = path.replace(OLD_API, `${API}/`);
  const hint = moved === path ? `Every route: GET ${API}/openapi.json` : `The API has a version in its paths: ${moved}`;
  return new PmlError("usage", `Nothing is served at ${method} ${path}`, { hint });
}

interface FoundRoute {
  readonly route: Route;
  readonly parameters: PathParameters;
}

type FindRoute = (method: string | undefined, path: string) => FoundRoute | undefined;

/** Finds the first route that fits. Most requests are for one address, so paths without parameters are looked up. */
function createRouteFinder(routes: readonly Route[]): FindRoute {
  const found = routes.filter(({ path }) => !path.includes(":")).map((route) => ({ route, parameters: {} }));
  const fixed = Map.groupBy(found, ({ route }) => route.path);
  const patterns = routes.filter(({ path }) => path.includes(":"));
  return (method, path) => {
    const fits = (route: Route): boolean => route.method === "*" || route.method === method;
    const known = fixed.get(path)?.find(({ route }) => fits(route));
    if (known !== undefined) return known;
    for (const route of patterns) {
      const parameters = fits(route) ? matchPath(route.path, path) : undefined;
      if (parameters !== undefined) return { route, parameters };
    }
    return undefined;
  };
}

/** Reads the parameters of a path; undefined where it does not fit the pattern. */
function matchPath(pattern: string, path: string): PathParameters | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    const decoded = part.startsWith(":") && value !== "" ? decode(value) : undefined;
    if (decoded !== undefined) parameters[part.slice(1)] = decoded;
    else if (part !== value) return undefined;
  }
  return parameters;
}

/** Decodes a part of a path; undefined where it is malformed, or holds a zero, which no name has. */
function decode(value: string): string | undefined {
  try {
    const text = decodeURIComponent(value);
    return text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Reads the path without `URL`, which refuses some requests that a client can send. */
function readPath({ url = "/" }: IncomingMessage): string {
  return url.split(/[?#]/, 1)[0] ?? "/";
}

async function upgrade(request: IncomingMessage, socket: Duplex, options: HttpServerOptions): Promise<void> {
  socket.on("error", () => socket.destroy()); // the peer is gone
  const refusal = await guard(request, "owner", options.guard);
  if (refusal !== undefined) {
    socket.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nConnection: close\r\n\r\n`);
    return;
  }
  // Before Node 24.9 every upgrade ends up here.
  if (wantsUpgrade(request, options)) options.upgrade.accept(socket, request);
  else socket.end("HTTP/1.1 400 Unknown upgrade\r\nConnection: close\r\n\r\n");
}

function wantsUpgrade(request: IncomingMessage, { upgrade: { path, protocol } }: HttpServerOptions): boolean {
  return request.method === "GET" && readPath(request) === path && request.headers.upgrade === protocol;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(`${JSON.stringify(body)}\n`);
}

/** Sends the document of a route, as its contract declares it. */
export function sendDocument<Contract extends DocumentRoute>(
  response: ServerResponse,
  _route: Contract,
  document: Returned<Contract>,
): void {
  sendJson(response, 200, document);
}

/** Sends the outcome of an operation; one that failed for a reason the user can act on is a 4xx with that reason. */
export async function answer(
  response: ServerResponse,
  status: number,
  operation: () => Promise<unknown>,
): Promise<void> {
  try {
    sendJson(response, status, { ok: true, data: await operation() });
  } catch (error) {
    if (!(error instanceof PmlError)) throw error;
    sendError(response, error.code === "request_refused" ? 403 : 409, error);
  }
}

/** Sends an error, or cuts the connection after the first byte of an answer, whose status cannot change any more. */
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
