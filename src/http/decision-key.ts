import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/**
 * The proof that a person decides. It differs from the gateway's token, which every MCP client over HTTP has: a client
 * that may ask must not be able to answer itself.
 */
export interface DecisionKey {
  matches(given: string | undefined): boolean;
  /** Makes a ticket that replaces the key in the page of one approval for a limited time. */
  ticketFor(approvalId: string): string;
  acceptsTicket(approvalId: string, ticket: string | undefined): boolean;
}

const TICKET_LIFE_MS = 15 * 60_000;

export function createDecisionKey(key: string): DecisionKey {
  const seal = (approvalId: string, until: string): string =>
    createHmac("sha256", key).update(`${approvalId}\n${until}`).digest("base64url");
  return {
    matches: (given) => isSameSecret(given ?? "", key),
    ticketFor(approvalId) {
      const until = String(Date.now() + TICKET_LIFE_MS);
      return `${until}.${seal(approvalId, until)}`;
    },
    acceptsTicket(approvalId, ticket = "") {
      const [until = "", given = ""] = ticket.split(".");
      return isSameSecret(given, seal(approvalId, until)) && Number(until) > Date.now();
    },
  };
}

/** Compares digests, so that neither time nor length leaks. */
export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
