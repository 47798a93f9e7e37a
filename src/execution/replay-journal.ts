import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../base/json.ts";
import type { AnswerEntry, CallEntry, CallTarget, JournalEntry } from "./journal.ts";

export type ReplayVerdict =
  /** Not in the journal: a first call. */
  | { readonly kind: "new" }
  /** Recorded with its answer, which is replayed. */
  | { readonly kind: "answered"; readonly answer: AnswerEntry }
  /** Recorded without an answer: the run was interrupted, and the call may or may not have happened. */
  | { readonly kind: "ambiguous"; readonly call: CallEntry }
  /** Another call was recorded at this call site: the program has changed. */
  | { readonly kind: "diverged"; readonly recorded: CallEntry };

export interface ReplayedCall {
  readonly node: string | undefined;
  readonly loop: string;
  readonly target: CallTarget;
  readonly args: JsonValue;
}

/** Recorded calls and answers of a resumed run, by call site. */
export class Replay {
  readonly #calls: ReadonlyMap<string, CallEntry[]>;
  readonly #answers: ReadonlyMap<number, AnswerEntry>;
  readonly #order: readonly AnswerEntry[];
  readonly #decisions: Map<string, number>;
  #delivered = 0;
  readonly #turns = new Map<number, () => void>();
  readonly #caughtUp = Promise.withResolvers<void>();

  constructor(entries: readonly JournalEntry[]) {
    const calls = entries.filter((entry) => entry.kind === "call");
    this.#calls = Map.groupBy(calls, ({ node, loop }) => placeKey(node, loop));
    this.#order = entries.filter((entry) => entry.kind === "answer");
    this.#answers = new Map(this.#order.map((answer) => [answer.call, answer]));
    const decisions = entries.filter((entry) => entry.kind === "decision");
    this.#decisions = new Map(
      [...Map.groupBy(decisions, ({ node, loop }) => placeKey(node, loop))].map(([key, group]) => [key, group.length]),
    );
    if (this.#order.length === 0) this.#caughtUp.resolve();
  }

  /** Matches calls at the same site in order. */
  find(call: ReplayedCall): ReplayVerdict {
    const recorded = this.#calls.get(placeKey(call.node, call.loop))?.shift();
    if (recorded === undefined) return { kind: "new" };
    if (!isSameCall(recorded, call)) return { kind: "diverged", recorded };
    const answer = this.#answers.get(recorded.seq);
    return answer === undefined ? { kind: "ambiguous", call: recorded } : { kind: "answered", answer };
  }

  /** Consumes a recorded decision; returns false if there is none left. */
  hasDecision(node: string, loop: string): boolean {
    const key = placeKey(node, loop);
    const left = this.#decisions.get(key) ?? 0;
    if (left > 0) this.#decisions.set(key, left - 1);
    return left > 0;
  }

  /** Resolves when this answer is next: answers are replayed in recorded order. */
  async turnOf(answer: AnswerEntry): Promise<void> {
    const position = this.#order.indexOf(answer);
    if (position !== this.#delivered) await new Promise<void>((resolve) => this.#turns.set(position, resolve));
    // Waits a turn of the event loop, so that the promise of this answer settles before the next one.
    setImmediate(() => {
      this.#delivered++;
      this.#turns.get(this.#delivered)?.();
      if (this.#delivered === this.#order.length) this.#caughtUp.resolve();
    });
  }

  /** Resolves when every recorded answer was replayed; new calls must not overtake them. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }
}

function isSameCall(recorded: CallEntry, call: ReplayedCall): boolean {
  return describeTarget(recorded.target) === describeTarget(call.target) && isDeepStrictEqual(recorded.args, call.args);
}

/** Ignores the id of a nested run, which is chosen at its first call. */
function describeTarget(target: CallTarget): string {
  switch (target.kind) {
    case "tool":
      return `tool ${target.tool}`;
    case "capability":
      return `capability ${target.name}`;
    case "sleep":
    default:
      return target.kind;
  }
}

function placeKey(node: string | undefined, loop: string): string {
  return `${node ?? "?"} ${loop}`;
}
