import { randomUUID } from "node:crypto";
import { BoundedMap } from "../base/bounded-map.ts";

/** More calls than clients leave unanswered; a dropped one is asked about again. */
const MOST_OPEN = 1_000;

/**
 * Calls that were permitted and whose server asked a question of its own before it did anything. Each ticket lets the
 * answer pass without a second approval, once: the client keeps the state it travels in and could send it again.
 */
export class AskedCalls {
  readonly #open = new BoundedMap<string, string>(MOST_OPEN);

  issue(call: string): string {
    const ticket = randomUUID();
    this.#open.set(ticket, call);
    return ticket;
  }

  /** True if the ticket was issued for this very call and not taken yet. */
  take(ticket: string | undefined, call: string): boolean {
    if (ticket === undefined || this.#open.get(ticket) !== call) return false;
    return this.#open.delete(ticket);
  }
}
