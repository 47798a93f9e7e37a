import { PmlError } from "../base/errors.ts";

const MOST_FAILURES = 5;
const PAUSE_MS = 5_000;

/** Stops starting children that do not start: after some failures in a row for a while, then for one try at a time. */
export class Breaker {
  #failures = 0;
  #openUntil = 0;
  #reason = "";

  get isOpen(): boolean {
    return performance.now() < this.#openUntil;
  }

  get error(): PmlError {
    return new PmlError("sandbox_unavailable", `Programs cannot be run: ${this.#reason}`, {
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
    if (this.#failures >= MOST_FAILURES) this.#openUntil = performance.now() + PAUSE_MS;
  }
}
