import { request as httpRequest } from "node:http";
import type { Readable } from "node:stream";
import type { Duplex } from "node:stream";
import { fromErrorReport, PmlError } from "../base/errors.ts";
import { version } from "../base/package-info.ts";
import type { httpFailure } from "../contract/error.ts";
import {
  type Answered,
  type DataRoute,
  DECISION_KEY_HEADER,
  fillPath,
  type RouteContract,
  type RouteRequest,
  type TextRoute,
} from "../contract/route.ts";
import type { Received } from "../contract/wire.ts";
import { SHIM_SECRET_HEADER, STDIO_PATH, STDIO_UPGRADE } from "../mcp/transport/stdio-bridge.ts";
import type { DaemonAddress, PersonAddress } from "./daemon-file.ts";
import { authorization, openProven, sendProven } from "./proven-connection.ts";

const PROBE_LIMIT_MS = 2_000;

/** The process at the address of a daemon: the daemon itself, somebody else, or none that answers. */
export type Listener = "daemon" | "stranger" | "none";

export async function probe(address: DaemonAddress): Promise<Listener> {
  try {
    (await openProven(address, PROBE_LIMIT_MS)).destroy();
    return "daemon";
  } catch (error) {
    return error instanceof PmlError ? "stranger" : "none"; // refused, reset or too slow
  }
}

/** Left out where nothing in it is required. */
type RequestArgument<Route extends RouteContract> =
  Partial<RouteRequest<Route>> extends RouteRequest<Route>
    ? [request?: RouteRequest<Route>]
    : [request: RouteRequest<Route>];

/** A route that decides takes the decision key as well. */
type AddressFor<Route extends RouteContract> = DaemonAddress &
  Pick<PersonAddress, Route extends { readonly decisionKey: true } ? "decisionKey" : never>;

/**
 * Calls a route of the daemon and returns its data, or throws the error it reported. A daemon of the same
 * version is trusted: it was compiled against the same contract. The answer of another version is checked.
 */
export async function callDaemon<Route extends DataRoute>(
  address: AddressFor<Route>,
  route: Route,
  ...[request]: RequestArgument<Route>
): Promise<Answered<Route>> {
  return readAnswer(address, route, await send(address, route, toSending(route, request)));
}

export async function uploadToDaemon<Route extends DataRoute & { readonly body: string }>(
  address: AddressFor<Route>,
  route: Route,
  body: Readable,
): Promise<Answered<Route>> {
  const sending = { path: route.path, headers: { "Content-Type": route.body }, body };
  return readAnswer(address, route, await send(address, route, sending));
}

export async function downloadFromDaemon(address: DaemonAddress, route: TextRoute): Promise<AsyncIterable<Uint8Array>> {
  const response = await send(address, route, { path: route.path });
  if (response.ok && response.body !== null) return response.body;
  throw await readFailure(address, route, response);
}

interface Sending {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable | string;
}

type Sender = DaemonAddress & Partial<PersonAddress>;

interface Request {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: object | undefined;
  readonly body?: unknown;
}

function toSending({ path }: RouteContract, { params = {}, query = {}, body }: Request = {}): Sending {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString();
  const target = `${fillPath(path, params)}${search === "" ? "" : `?${search}`}`;
  return { path: target, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
}

async function send(address: Sender, { method, decisionKey }: RouteContract, sending: Sending): Promise<Response> {
  const { path, headers, body } = sending;
  const key = decisionKey && address.decisionKey;
  const proof = key === undefined ? {} : { [DECISION_KEY_HEADER]: key };
  const type = typeof body === "string" ? { "Content-Type": "application/json" } : {};
  try {
    return await sendProven(address, { path, method, headers: { ...type, ...headers, ...proof }, body });
  } catch (cause) {
    if (cause instanceof PmlError) throw cause;
    throw new PmlError("daemon_unreachable", `The daemon at ${address.url} (pid ${address.pid}) does not answer`, {
      hint: "See what is there: pml status. Start it again: pml up",
      cause,
    });
  }
}

async function readAnswer<Route extends DataRoute>(
  address: DaemonAddress,
  route: Route,
  response: Response,
): Promise<Answered<Route>> {
  if (!response.ok) throw await readFailure(address, route, response);
  const { data } = (await response.json()) as { readonly data: unknown };
  const isTrusted = address.version === version || route.answer.schema.safeParse(data).success;
  if (!isTrusted) throw otherVersion(address, route, "answers something else");
  return data as Answered<Route>;
}

async function readFailure(address: DaemonAddress, route: RouteContract, response: Response): Promise<PmlError> {
  const { error } = (await response.json()) as Received<typeof httpFailure>;
  // every route of the contract is served by a daemon of this version
  return response.status === 404 ? otherVersion(address, route, "does not have it") : fromErrorReport(error);
}

function otherVersion(address: DaemonAddress, { method, path }: RouteContract, problem: string): PmlError {
  const { url, pid } = address;
  const details = { command: version, daemon: address.version };
  const message = `This command is PML ${version} and needs ${method} ${path}, but the daemon at ${url} (pid ${pid}, PML ${address.version}) ${problem}`;
  return new PmlError("daemon_version", message, { hint: "Restart the daemon: pml down && pml up", details });
}

/** Opens a raw connection that carries MCP as stdin and stdout would. The secret proves that a shim does. */
export async function openStdio(address: DaemonAddress, shimSecret?: string): Promise<Duplex> {
  const proof = shimSecret === undefined ? {} : { [SHIM_SECRET_HEADER]: shimSecret };
  const proven = await openProven(address, PROBE_LIMIT_MS);
  return new Promise((resolve, reject) => {
    const request = httpRequest(new URL(STDIO_PATH, address.url), {
      headers: { ...authorization(address), ...proof, Connection: "Upgrade", Upgrade: STDIO_UPGRADE },
      timeout: PROBE_LIMIT_MS,
      createConnection: () => proven,
    });
    request.once("upgrade", (_response, socket, head) => {
      socket.setNoDelay(true);
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.once("response", (response) => {
      response.resume();
      reject(new Error(`the daemon refused the connection: ${response.statusCode}`));
    });
    request.once("timeout", () => request.destroy(new Error("the daemon does not answer")));
    request.once("error", reject);
    request.end();
  });
}
