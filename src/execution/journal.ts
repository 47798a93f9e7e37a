import type { JsonValue } from "../base/json.ts";
import type { RunBudget } from "./run-budget.ts";
import type { CallOutcome } from "./worker-bridge.ts";

/** Target of a call: a tool (`server:tool`), a capability by name, or a pause. */
export type CallTarget =
  | { readonly kind: "tool"; readonly tool: string }
  | { readonly kind: "capability"; readonly name: string; readonly runId: string }
  | { readonly kind: "sleep" };

export interface CallEntry {
  readonly kind: "call";
  readonly seq: number;
  readonly node: string | undefined;
  readonly loop: string;
  readonly target: CallTarget;
  readonly args: JsonValue;
  readonly at: number;
}

export interface AnswerEntry {
  readonly kind: "answer";
  readonly seq: number;
  /** `seq` of the call. */
  readonly call: number;
  readonly clock: number;
  readonly outcome: CallOutcome;
}

interface DecisionEntry {
  readonly kind: "decision";
  readonly seq: number;
  readonly node: string;
  readonly loop: string;
  readonly outcome: string;
}

/** Secrets of the entries stored with it, which have placeholders instead. */
interface SealedEntry {
  readonly kind: "sealed";
  readonly seq: number;
  readonly text: string;
}

export type JournalEntry = CallEntry | AnswerEntry | DecisionEntry | SealedEntry;

type Unnumbered<T> = T extends JournalEntry ? Omit<T, "seq"> : never;

/** Makes entries durable, in order. */
export type WriteEntries = (entries: readonly JournalEntry[]) => Promise<void>;

/** Flush delay, so that a running program can be inspected and resumed. */
const WRITE_AFTER_MS = 100;

/** Everything a run did, in order. The durable part is always a prefix. */
export class Journal {
  readonly #entries: JournalEntry[];
  readonly #write: WriteEntries;
  readonly #budget: Pick<RunBudget, "takeEntry"> | undefined;
  #written: number;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(write: WriteEntries, recorded: readonly JournalEntry[] = [], budget?: Pick<RunBudget, "takeEntry">) {
    this.#entries = [...recorded];
    this.#written = recorded.length;
    this.#write = write;
    this.#budget = budget;
  }

  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** Throws if the budget has no room for the entry. */
  append(entry: Unnumbered<JournalEntry>): number {
    this.#budget?.takeEntry(entry);
    const seq = this.#entries.length;
    this.#entries.push({ ...entry, seq });
    this.#timer ??= setTimeout(() => void this.flush().catch(() => undefined), WRITE_AFTER_MS).unref();
    return seq;
  }

  /** Resolves when all entries appended so far are durable. Concurrent calls share the next write. */
  flush(): Promise<void> {
    this.#stopTimer();
    const wanted = this.#entries.length;
    this.#writing = this.#writing
      .catch(() => undefined) // the caller of that write got its error; this one retries
      .then(async () => {
        if (this.#written >= wanted && this.#written > 0) return;
        const batch = this.#entries.slice(this.#written);
        await this.#write(batch);
        this.#written += batch.length;
      });
    return this.#writing;
  }

  /**
   * Waits for pending writes and returns the entries that are not durable yet, for the transaction that ends the run.
   */
  async close(): Promise<readonly JournalEntry[]> {
    this.#stopTimer();
    await this.#writing.catch(() => undefined); // returns the entries it could not write
    this.#stopTimer();
    return this.#entries.slice(this.#written);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
