import { PmlError } from "../base/errors.ts";

const MAX_FAILURES = 5;
const PAUSE_MS = 5_000;

/**
 * Circuit breaker for child start-up: opens after several failures in a row, then allows one attempt after each pause.
 */
export class Breaker {
  #failures = 0;
  #openUntil = 0;
  #reason = "";

  get isOpen(): boolean {
    return performance.now() < this.#openUntil;
  }

  get error(): PmlError {
    return new PmlError("sandbox_unavailable", `Cannot run programs: ${this.#reason}`, {
      hint: "Check the installation with: pml doctor",
    });
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openUntil = 0;
  }

  failed(reason: string): void {
    this.#reason = reason;
    this.#failures += 1;
    if (this.#failures >= MAX_FAILURES) this.#openUntil = performance.now() + PAUSE_MS;
  }
}
