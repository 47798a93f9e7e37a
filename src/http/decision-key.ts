import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/**
 * What shows that a person decides. It is not the token of the gateway, which every MCP client over HTTP
 * has: whoever may ask must not thereby be able to answer.
 */
export interface DecisionKey {
  matches(given: string | undefined): boolean;
  /** Stands for the key in the page of one approval, for a while: so that the page need not carry the key. */
  ticketFor(approvalId: string): string;
  acceptsTicket(approvalId: string, ticket: string | undefined): boolean;
}

const TICKET_LIFE_MS = 15 * 60_000;

export function createDecisionKey(key: string): DecisionKey {
  const seal = (approvalId: string, until: string): string =>
    createHmac("sha256", key).update(`${approvalId}\n${until}`).digest("base64url");
  return {
    matches: (given) => isSame(given ?? "", key),
    ticketFor(approvalId) {
      const until = String(Date.now() + TICKET_LIFE_MS);
      return `${until}.${seal(approvalId, until)}`;
    },
    acceptsTicket(approvalId, ticket = "") {
      const [until = "", given = ""] = ticket.split(".");
      return isSame(given, seal(approvalId, until)) && Number(until) > Date.now();
    },
  };
}

/** Compares digests, so that neither time nor length tells anything. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
