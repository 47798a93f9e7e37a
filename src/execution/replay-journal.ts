import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../base/json.ts";
import type { AnswerEntry, CallEntry, CallTarget, JournalEntry } from "./journal.ts";

export type ReplayVerdict =
  /** Not in the journal: it is made for the first time. */
  | { readonly kind: "new" }
  /** Made before, and answered: the answer is fed back. */
  | { readonly kind: "answered"; readonly answer: AnswerEntry }
  /** Begun before the run was interrupted; nobody knows whether it happened. */
  | { readonly kind: "ambiguous"; readonly call: CallEntry }
  /** Something else was called at this place before: the program is not what it was. */
  | { readonly kind: "diverged"; readonly recorded: CallEntry };

export interface ReplayedCall {
  readonly node: string | undefined;
  readonly loop: string;
  readonly target: CallTarget;
  readonly args: JsonValue;
}

/** What is already known of a run that is gone on with, by place in the program. */
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

  /** Calls at the same place count in the order in which they are made. */
  find(call: ReplayedCall): ReplayVerdict {
    const recorded = this.#calls.get(placeKey(call.node, call.loop))?.shift();
    if (recorded === undefined) return { kind: "new" };
    if (!isSameCall(recorded, call)) return { kind: "diverged", recorded };
    const answer = this.#answers.get(recorded.seq);
    return answer === undefined ? { kind: "ambiguous", call: recorded } : { kind: "answered", answer };
  }

  /** Whether this decision is one the journal has already. */
  hasDecision(node: string, loop: string): boolean {
    const key = placeKey(node, loop);
    const left = this.#decisions.get(key) ?? 0;
    if (left > 0) this.#decisions.set(key, left - 1);
    return left > 0;
  }

  /** Resolves when it is this answer's turn: answers are fed back in the order in which they came. */
  async turnOf(answer: AnswerEntry): Promise<void> {
    const position = this.#order.indexOf(answer);
    if (position !== this.#delivered) await new Promise<void>((resolve) => this.#turns.set(position, resolve));
    // The next one must not be fed back before this one has been: promises settle in a later turn of the loop.
    setImmediate(() => {
      this.#delivered++;
      this.#turns.get(this.#delivered)?.();
      if (this.#delivered === this.#order.length) this.#caughtUp.resolve();
    });
  }

  /** Resolves when every recorded answer was fed back; what is new must not overtake them. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }
}

function isSameCall(recorded: CallEntry, call: ReplayedCall): boolean {
  return describeTarget(recorded.target) === describeTarget(call.target) && isDeepStrictEqual(recorded.args, call.args);
}

/** The id of a nested run is chosen when it is first called, so it does not count. */
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
