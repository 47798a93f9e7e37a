import { type Client, SseError } from "@modelcontextprotocol/client";
import { isModern } from "./current-protocol.ts";
import { findHttpStatus, innermostMessage, isUnreachable } from "../failures.ts";
import { anyResult } from "./passthrough.ts";

/** True if a remote server refused a request because of its session. The protocol requires 404; many answer 400. */
export function isSessionGone(error: unknown, session: string | undefined): boolean {
  const status = findHttpStatus(error);
  return session !== undefined && (status === 404 || status === 400);
}

/** Derives from a failed request why a remote connection is lost; undefined if it is not. */
export function findLoss(error: unknown, session: string | undefined): string | undefined {
  if (isSessionGone(error, session)) return "it does not know the session any more";
  return isUnreachable(error) ? innermostMessage(error) : undefined;
}

const CHECK_MS = 5_000;

/**
 * Checks after an error whether the server still answers and knows the session. A remote connection does not close by itself,
 * and a call whose stream broke would wait forever.
 */
export function createLossCheck(client: Client, onLoss: (reason: string) => void): (error: Error) => void {
  let checking = false;
  const check = async (error: Error): Promise<string | undefined> => {
    // The stream is the session: a new stream is another session.
    if (error instanceof SseError) return innermostMessage(error);
    const session = client.transport?.sessionId;
    const method = isModern(client) ? "server/discover" : "ping";
    return client
      .request({ method, params: {} }, anyResult, { timeout: CHECK_MS })
      .then(() => undefined)
      .catch((failure: unknown) => findLoss(failure, session));
  };
  return (error) => {
    if (checking || client.transport === undefined) return;
    checking = true;
    void check(error).then((reason) => {
      checking = false;
      if (reason !== undefined) onLoss(reason);
    });
  };
}
