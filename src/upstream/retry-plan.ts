const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** After this many failures in a row a server is only tried again when somebody asks for it. */
const FAILURES_UNTIL_REST = 6;

/** When a server that failed may be tried again: sooner at first, later each time, never all at once. */
export class RetryPlan {
  #failures = 0;
  #notBefore = 0;

  get failures(): number {
    return this.#failures;
  }

  get exhausted(): boolean {
    return this.#failures >= FAILURES_UNTIL_REST;
  }

  remainingMs(now = Date.now()): number {
    return Math.max(0, this.#notBefore - now);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = 0;
  }

  /** Returns how long to wait. The first failure may be a crash of a server that ran well: it waits least. */
  failed(now = Date.now()): number {
    const delay = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, LONGEST_DELAY_MS);
    this.#failures += 1;
    const wait = delay * (0.75 + Math.random() * 0.5);
    this.#notBefore = now + wait;
    return wait;
  }
}
