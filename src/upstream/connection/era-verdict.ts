import type { Client, PriorDiscovery } from "@modelcontextprotocol/client";
import { isModern } from "./current-protocol.ts";

/** The era a server speaks, and the time it was asked. */
export interface EraVerdict {
  readonly era: PriorDiscovery;
  readonly askedAt: Date;
}

/**
 * A server that is updated to the current protocol still answers in the old one, so a stale verdict would go unnoticed:
 * every server is asked again after a day.
 */
const VALID_MS = 24 * 60 * 60 * 1000;

/** Remembers which era to connect with, or that the server has to be asked. */
export class EraMemory {
  #verdict: EraVerdict | undefined;
  /** Cause of the last failure, perhaps; the next try does the opposite. */
  #failed: "asking" | "verdict" | undefined;
  #trying: "asking" | "verdict" | "guess" = "asking";

  constructor(verdict: EraVerdict | undefined) {
    this.#verdict = verdict;
  }

  /** Returns undefined to ask. Some servers of the 2025 era exit at the question, or ignore it. */
  next(now = Date.now()): PriorDiscovery | undefined {
    const valid = this.#verdict !== undefined && now - this.#verdict.askedAt.getTime() < VALID_MS;
    if (this.#failed === "asking") {
      this.#trying = "guess";
      return { kind: "legacy" };
    }
    this.#trying = valid && this.#failed !== "verdict" ? "verdict" : "asking";
    return this.#trying === "verdict" ? this.#verdict?.era : undefined;
  }

  /** Returns a new verdict, to be stored. */
  succeeded(client: Client, now = Date.now()): EraVerdict | undefined {
    this.#failed = undefined;
    if (this.#trying === "verdict") return undefined;
    const discover = isModern(client) ? client.getDiscoverResult() : undefined;
    const era: PriorDiscovery = discover === undefined ? { kind: "legacy" } : { kind: "modern", discover };
    this.#verdict = { era, askedAt: new Date(now) };
    return this.#verdict;
  }

  failed(): void {
    this.#failed = this.#trying === "guess" ? undefined : this.#trying;
  }

  /** Forgets the verdict: another login may reach another server. */
  forget(): void {
    this.#verdict = undefined;
  }
}
