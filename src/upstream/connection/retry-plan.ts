const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** After this many failures in a row a server is only tried again when somebody asks for it. */
const FAILURES_UNTIL_REST = 6;
/** A server that ran this long before it ended is one that runs well. */
const STEADY_MS = 10_000;

/** When a server that failed may be tried again: sooner at first, later each time, never all at once. */
export class RetryPlan {
  #failures = 0;
  #starts = 0;
  #crashes = 0;
  #runningSince: number | undefined;
  #notBefore = 0;

  get failures(): number {
    return this.#failures;
  }

  /** How often it was started anew after it ran. */
  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  get exhausted(): boolean {
    return Math.max(this.#failures, this.#crashes) >= FAILURES_UNTIL_REST;
  }

  /** How long whoever asks for the server has to wait. */
  remainingMs(now = Date.now()): number {
    return Math.max(0, this.#notBefore - now);
  }

  succeeded(now = Date.now()): void {
    this.#failures = 0;
    this.#starts += 1;
    this.#runningSince = now;
    this.#notBefore = 0;
  }

  /** What failed so far says nothing about the next try. */
  forget(): void {
    this.#failures = 0;
    this.#crashes = 0;
    this.#notBefore = 0;
  }

  /** It could not be started. Returns how long to wait. */
  failed(now = Date.now()): number {
    this.#failures += 1;
    const wait = retryDelay(this.#failures);
    this.#notBefore = now + wait;
    return wait;
  }

  /**
   * It ran and ended. It is there again at once for whoever asks, since it can start; by itself it is
   * started later each time, or one that always ends after starting would do so for ever.
   */
  crashed(now = Date.now()): number {
    const ranWell = this.#runningSince !== undefined && now - this.#runningSince >= STEADY_MS;
    this.#crashes = ranWell ? 1 : this.#crashes + 1;
    this.#runningSince = undefined;
    this.#notBefore = now + retryDelay(1);
    return retryDelay(this.#crashes);
  }
}

/** How long to wait after so many failures in a row. */
export function retryDelay(failures: number): number {
  const longest = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS);
  return longest * (0.75 + Math.random() * 0.5);
}
