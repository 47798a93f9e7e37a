/** Readings that a server's changes may cause in quick succession. */
const MOST_SAVED = 60;
/** Time that pays for one reading. */
const REFILL_MS = 30_000;
/** Size of an offer that costs one reading more, as JSON. */
const SIZE_OF_ONE = 64 * 1024;
/** A reading that cost more waits no longer than this. */
const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * Limits how often the changes of one server are read. Each reading is compared, stored, indexed and announced to all
 * clients, and a server can announce changes without end.
 */
export class ChangeBudget {
  #saved = MOST_SAVED;
  #countedAt: number;

  constructor(now: number = Date.now()) {
    this.#countedAt = now;
  }

  /** Time until the next change may be read. */
  waitMs(now: number = Date.now()): number {
    return Math.min(Math.round(Math.max(0, 1 - this.#count(now)) * REFILL_MS), LONGEST_WAIT_MS);
  }

  spend(size: number, now: number = Date.now()): void {
    const lowest = 1 - LONGEST_WAIT_MS / REFILL_MS;
    this.#saved = Math.max(lowest, this.#count(now) - 1 - size / SIZE_OF_ONE);
  }

  #count(now: number): number {
    this.#saved = Math.min(MOST_SAVED, this.#saved + (now - this.#countedAt) / REFILL_MS);
    this.#countedAt = now;
    return this.#saved;
  }
}
