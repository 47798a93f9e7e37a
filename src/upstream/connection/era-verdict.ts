import type { Client, PriorDiscovery } from "@modelcontextprotocol/client";
import { isModern } from "./current-protocol.ts";

/** Which era a server was found to speak, and when it was asked. */
export interface EraVerdict {
  readonly era: PriorDiscovery;
  readonly askedAt: Date;
}

/**
 * A server that has learnt the current protocol still answers in the old one, so that a verdict on it
 * would never be noticed to be wrong: all are asked again after a day.
 */
const VALID_MS = 24 * 60 * 60 * 1000;

/** How to connect to a server: as it was found to be, or by asking it first. */
export class EraMemory {
  #verdict: EraVerdict | undefined;
  /** What the last try stumbled over, perhaps: the next one does it differently. */
  #failed: "asking" | "verdict" | undefined;
  #trying: "asking" | "verdict" | "guess" = "asking";

  constructor(verdict: EraVerdict | undefined) {
    this.#verdict = verdict;
  }

  /** undefined: ask. Some servers of the 2025 era stumble over the question, or leave it unanswered. */
  next(now = Date.now()): PriorDiscovery | undefined {
    const valid = this.#verdict !== undefined && now - this.#verdict.askedAt.getTime() < VALID_MS;
    if (this.#failed === "asking") {
      this.#trying = "guess";
      return { kind: "legacy" };
    }
    this.#trying = valid && this.#failed !== "verdict" ? "verdict" : "asking";
    return this.#trying === "verdict" ? this.#verdict?.era : undefined;
  }

  /** Returns the verdict where it is a new one, which is then worth keeping. */
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

  /** What holds for one login need not hold for another. */
  forget(): void {
    this.#verdict = undefined;
  }
}
