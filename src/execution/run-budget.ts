import { PmlError } from "../base/errors.ts";
import { jsonBytes } from "../gateway/results/json-size.ts";
import type { JournalEntry } from "./journal.ts";
import type { RunLimits } from "./worker-bridge.ts";

type BudgetLimits = Pick<RunLimits, "maxCalls" | "maxJournalBytes">;

/**
 * Calls and bytes of journals that a run and everything nested in it may use together; otherwise each level would
 * multiply the limits.
 */
export class RunBudget {
  readonly #limits: BudgetLimits;
  #calls: number;
  #bytes = 0;

  /** @param ended journals of nested runs that had ended before this run was resumed */
  constructor(limits: BudgetLimits, ended: readonly JournalEntry[] = []) {
    this.#limits = limits;
    this.#calls = ended.filter(({ kind }) => kind === "call").length;
    this.addStored(ended);
  }

  /** Adds the size of stored entries; their calls count when they are replayed. */
  addStored(entries: readonly JournalEntry[]): void {
    for (const entry of entries) this.#addBytes(entry);
  }

  /** Counts one call; throws if it is one too many. */
  takeCall(): void {
    this.#calls += 1;
    if (this.#calls > this.#limits.maxCalls) throw exceeded("maxCalls", this.#limits, "calls");
  }

  /** Counts a new entry of a journal; throws if there is no room for it. */
  takeEntry(entry: object): void {
    this.#addBytes(entry);
    if (this.#bytes > this.#limits.maxJournalBytes)
      throw exceeded("maxJournalBytes", this.#limits, "bytes of arguments and results");
  }

  #addBytes(entry: object): void {
    this.#bytes += jsonBytes(entry, Math.max(0, this.#limits.maxJournalBytes - this.#bytes));
  }
}

function exceeded(name: keyof BudgetLimits, limits: BudgetLimits, unit: string): PmlError {
  const most = limits[name].toLocaleString("en-US");
  return new PmlError("limit_exceeded", `The run and the capabilities in it made more than ${most} ${unit}`, {
    hint: `The limit is sandbox.${name}.`,
  });
}
