import type { FetchLike } from "@modelcontextprotocol/client";
import { PmlError } from "../../base/errors.ts";

const LIMIT_MS = 15_000;
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Fetches addresses that a remote server names. The server must not reach through PML what it cannot reach itself: plain HTTP
 * is allowed to its own host only, and loopback only if the server is on it.
 */
export function createOauthFetch(serverUrl: string): FetchLike {
  const server = new URL(serverUrl);
  return async (input, init) => {
    const url = new URL(input);
    if (!isAllowed(url, server)) {
      throw new PmlError(
        "login_failed",
        `The server at ${server.origin} sends logins to ${url.origin}, which PML does not`,
        {
          hint: "An authorization server has to be reached by https",
        },
      );
    }
    // A redirect must not carry the request to a token endpoint elsewhere.
    const redirect = init?.method === "POST" ? "error" : "follow";
    return fetch(url, { ...init, redirect, signal: AbortSignal.timeout(LIMIT_MS) });
  };
}

function isAllowed(url: URL, server: URL): boolean {
  if (url.origin === server.origin) return true;
  const local = LOOPBACK.includes(url.hostname);
  if (local) return LOOPBACK.includes(server.hostname) && /^https?:$/.test(url.protocol);
  return url.protocol === "https:";
}
