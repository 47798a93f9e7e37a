import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { GuardedRequest } from "../auth/caller.ts";
import type { ResourceServer } from "../auth/resource-server.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { isLoopback, LOOPBACK_NAMES } from "./listen-address.ts";

export interface GuardSettings {
  readonly token: string;
  /** Host names of the gateway besides those of loopback, without port. */
  readonly hosts: readonly string[];
  /** Checks tokens of remote callers; the local token then counts on this machine only. */
  readonly resourceServer?: ResourceServer | undefined;
}

/**
 * The callers that may use a route: everybody, the holder of the local token, or also principals with a token of
 * `auth`.
 */
export type Access = "public" | "owner" | "principals";

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const LAST_PORT = 65_535;

/**
 * Checks Host and Origin, because a web page can make a browser send requests to loopback and DNS can be rebound to it,
 * and then the token. Returns undefined for a permitted request, and sets its caller.
 */
export async function guard(
  request: GuardedRequest,
  access: Access,
  settings: GuardSettings,
): Promise<Refusal | undefined> {
  const stranger = findTwice(request) ?? checkAddress(request.headers, settings);
  if (stranger !== undefined || access === "public") return stranger;
  if (isOwner(request, settings)) return undefined;
  const { resourceServer } = settings;
  if (access === "owner" || resourceServer === undefined) return missingToken();
  const caller = await resourceServer.authenticate(request.headers.authorization);
  if (caller instanceof Response) return toRefusal(caller);
  request.auth = caller;
  return undefined;
}

/** Headers that decide. Of two, Node takes the first, and a proxy before it perhaps the second. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "content-type",
  "host",
  "mcp-session-id",
  "origin",
  "transfer-encoding",
  "x-pml-decision-key",
  "x-pml-shim-secret",
]);

function findTwice({ rawHeaders }: IncomingMessage): Refusal | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen.has(name)) return refuse(400, `The header "${name}" is there twice`, "Send it once");
    seen.add(name);
  }
  return undefined;
}

function checkAddress(headers: IncomingHttpHeaders, { hosts, resourceServer }: GuardSettings): Refusal | undefined {
  const { host = "", origin } = headers;
  const isOurs = (name: string): boolean =>
    LOOPBACK_NAMES.includes(name) || hosts.includes(name) || name === resourceServer?.host;
  if (!isOurs(hostName(host)))
    return refuse(403, `Host "${host}" is not one of this gateway's names`, "Add it to http.allowedHosts");
  if (origin !== undefined && !isOurs(originHost(origin)))
    return refuse(403, `Origin "${origin}" may not use this gateway`, "Add its host to http.allowedHosts");
  return undefined;
}

function isOwner(request: IncomingMessage, settings: GuardSettings): boolean {
  const { resourceServer } = settings;
  if (!hasToken(request, settings)) return false;
  return resourceServer === undefined || isFromHere(request, resourceServer.host);
}

/** Headers that reverse proxies add. */
const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "via"];

/** Checks that a connection comes from this machine, and not from a proxy on it. */
function isFromHere({ socket, headers }: IncomingMessage, publicHost: string): boolean {
  const { remoteAddress = "", localAddress } = socket;
  if (!isLoopback(remoteAddress) && remoteAddress !== localAddress) return false;
  const host = hostName(headers.host ?? "");
  if (host === publicHost && !LOOPBACK_NAMES.includes(host)) return false;
  return FORWARDING_HEADERS.every((name) => headers[name] === undefined);
}

function missingToken(): Refusal {
  const hint = "Send 'Authorization: Bearer …' with the content of $PML_HOME/token";
  const { status, headers, body } = refuse(401, "The token is missing or wrong", hint);
  return { status, headers: { ...headers, "WWW-Authenticate": "Bearer" }, body };
}

function refuse(status: number, message: string, hint: string): Refusal {
  const error = toErrorReport(new PmlError("request_refused", message, { hint }));
  return {
    status,
    headers: { "Content-Type": "application/json" },
    body: `${JSON.stringify({ ok: false, error })}\n`,
  };
}

async function toRefusal(response: Response): Promise<Refusal> {
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** Strips the port; empty for an invalid one, since later code builds URLs from the host. */
function hostName(host: string): string {
  const [, name = "", port = "0"] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(host) ?? [];
  return Number(port) > LAST_PORT ? "" : name.toLowerCase();
}

function originHost(origin: string): string {
  try {
    return new URL(origin).hostname;
  } catch {
    return ""; // "null" and other opaque origins are never ours
  }
}

/**
 * Compares digests, so that neither time nor length leaks the token. A connection that sent the token once is not
 * checked again for the same header.
 */
function hasToken({ headers: { authorization }, socket }: IncomingMessage, settings: GuardSettings): boolean {
  if (authorization !== undefined && known.get(socket) === authorization) return true;
  const given = /^Bearer (.+)$/i.exec(authorization ?? "")?.[1] ?? "";
  const wanted = wantedDigests.get(settings) ?? digest(settings.token);
  wantedDigests.set(settings, wanted);
  if (!timingSafeEqual(digest(given), wanted)) return false;
  if (authorization !== undefined) known.set(socket, authorization);
  return true;
}

/** The accepted Authorization header of each connection. */
const known = new WeakMap<object, string>();

/** The digest of each server's token. */
const wantedDigests = new WeakMap<GuardSettings, Buffer>();

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
