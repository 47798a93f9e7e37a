const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** After this many consecutive failures a server is retried only on demand. */
const FAILURES_UNTIL_REST = 6;
/** A server that ran this long before it exited counts as stable. */
const STEADY_MS = 10_000;

/** Decides when to retry a failed server: exponential back-off with jitter. */
export class RetryPlan {
  #failures = 0;
  #starts = 0;
  #crashes = 0;
  #runningSince: number | undefined;
  #notBefore = 0;

  get failures(): number {
    return this.#failures;
  }

  /** Number of restarts after a crash. */
  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  get exhausted(): boolean {
    return Math.max(this.#failures, this.#crashes) >= FAILURES_UNTIL_REST;
  }

  /** Time until the next attempt is allowed. */
  remainingMs(now = Date.now()): number {
    return Math.max(0, this.#notBefore - now);
  }

  succeeded(now = Date.now()): void {
    this.#failures = 0;
    this.#starts += 1;
    this.#runningSince = now;
    this.#notBefore = 0;
  }

  /** Resets all failures. */
  forget(): void {
    this.#failures = 0;
    this.#crashes = 0;
    this.#notBefore = 0;
  }

  /** Records a failed start. Returns the delay. */
  failed(now = Date.now()): number {
    this.#failures += 1;
    const wait = retryDelay(this.#failures);
    this.#notBefore = now + wait;
    return wait;
  }

  /**
   * Records a crash. A caller may restart the server at once, since it can start; automatic restarts back off, or a server that
   * always exits would restart forever.
   */
  crashed(now = Date.now()): number {
    const ranWell = this.#runningSince !== undefined && now - this.#runningSince >= STEADY_MS;
    this.#crashes = ranWell ? 1 : this.#crashes + 1;
    this.#runningSince = undefined;
    this.#notBefore = now + retryDelay(1);
    return retryDelay(this.#crashes);
  }
}

/** Computes the delay after a number of consecutive failures. */
export function retryDelay(failures: number): number {
  const longest = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS);
  return longest * (0.75 + Math.random() * 0.5);
}
