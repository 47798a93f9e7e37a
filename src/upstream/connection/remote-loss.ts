import { type Client, SseError } from "@modelcontextprotocol/client";
import { isModern } from "./current-protocol.ts";
import { findHttpStatus, innermostMessage, isUnreachable } from "../failures.ts";
import { anyResult } from "./passthrough.ts";

/** Whether a remote server refused a request for its session. The protocol wants a 404 for it; many answer 400. */
export function isSessionGone(error: unknown, session: string | undefined): boolean {
  const status = findHttpStatus(error);
  return session !== undefined && (status === 404 || status === 400);
}

/** Why a remote connection is of no use any more, if a failed request shows that. */
export function findLoss(error: unknown, session: string | undefined): string | undefined {
  if (isSessionGone(error, session)) return "it does not know the session any more";
  return isUnreachable(error) ? innermostMessage(error) : undefined;
}

const CHECK_MS = 5_000;

/**
 * A remote connection does not end by itself, and a call whose stream broke off would wait for ever.
 * So after an error on it the server is asked whether it is still there and knows us.
 */
export function createLossCheck(client: Client, onLoss: (reason: string) => void): (error: Error) => void {
  let checking = false;
  const check = async (error: Error): Promise<string | undefined> => {
    // The stream of these servers is their session: what comes back after a break is another one.
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
