import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface GuardSettings {
  readonly token: string;
  /** Names under which the gateway may be addressed, without port. */
  readonly hosts: readonly string[];
}

export type Verdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly status: 401 | 403; readonly message: string; readonly hint: string };

const LAST_PORT = 65_535;
const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"];

/**
 * A web page can make a browser send requests to loopback, and DNS can be rebound to it: so Host and
 * Origin must be ours. The token keeps out other users of the machine.
 */
export function checkRequest(headers: IncomingHttpHeaders, settings: GuardSettings, needsToken: boolean): Verdict {
  const hosts = [...LOOPBACK_HOSTS, ...settings.hosts];
  if (!hosts.includes(hostName(headers.host ?? ""))) {
    return refuse(
      403,
      `Host "${headers.host ?? ""}" is not one of this gateway's names`,
      "Add it to http.allowedHosts",
    );
  }
  const { origin } = headers;
  if (origin !== undefined && !hosts.includes(originHost(origin))) {
    return refuse(403, `Origin "${origin}" may not use this gateway`, "Add its host to http.allowedHosts");
  }
  if (needsToken && !hasToken(headers.authorization, settings.token)) {
    return refuse(
      401,
      "The token is missing or wrong",
      "Send 'Authorization: Bearer …' with the content of $PML_HOME/token",
    );
  }
  return { ok: true };
}

function refuse(status: 401 | 403, message: string, hint: string): Verdict {
  return { ok: false, status, message, hint };
}

/** Without its port, which must be one: what follows builds URLs of it. */
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

/** Compares digests, so that neither time nor length tells anything about the token. */
function hasToken(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(authorization ?? "")?.[1] ?? "";
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
