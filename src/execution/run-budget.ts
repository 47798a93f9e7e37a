import { PmlError } from "../base/errors.ts";
import type { RunLimits } from "./worker-bridge.ts";

/** Calls that a run and everything nested in it may make together; otherwise each level would multiply the limit. */
export class RunBudget {
  readonly #maxCalls: number;
  #calls: number;

  /** @param made calls of nested runs that had ended before this run was resumed */
  constructor({ maxCalls }: Pick<RunLimits, "maxCalls">, made = 0) {
    this.#maxCalls = maxCalls;
    this.#calls = made;
  }

  /** Counts one call; throws if it is one too many. */
  takeCall(): void {
    this.#calls += 1;
    if (this.#calls <= this.#maxCalls) return;
    const most = this.#maxCalls.toLocaleString("en-US");
    throw new PmlError("limit_exceeded", `The run and the capabilities in it made more than ${most} calls`, {
      hint: "The limit is sandbox.maxCalls.",
    });
  }
}
