import type { CallResult } from "../gateway/call-tool.ts";
import { randomUUID } from "node:crypto";
import type { Ask, Question } from "../upstream/active-calls.ts";

export type ExchangeOutcome =
  | { readonly kind: "result"; readonly result: CallResult }
  | { readonly kind: "question"; readonly call: string; readonly question: Question };

interface PendingQuestion {
  readonly question: Question;
  answer(response: Record<string, unknown>): void;
}

/** A call that outlives the exchange it began in: it stops at a question and resumes with the answer. */
class ParkedCall {
  #id: string | undefined;
  readonly #result: Promise<CallResult>;
  readonly #abort = new AbortController();
  readonly #questions: PendingQuestion[] = [];
  #asked = Promise.withResolvers<void>();
  timer: NodeJS.Timeout | undefined;

  constructor(run: (ask: Ask, signal: AbortSignal) => Promise<CallResult>) {
    this.#result = run((question) => this.#ask(question), this.#abort.signal);
    this.#result.catch(() => undefined); // awaited by the exchange that resumes the call, if one does
  }

  /** Created on demand: most calls ask nothing. */
  get id(): string {
    return (this.#id ??= randomUUID());
  }

  /** Resolves with the result or the next question. Listens to the caller's signal only meanwhile. */
  async next(signal: AbortSignal): Promise<ExchangeOutcome> {
    const abort = (): void => this.cancel(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      const result = await Promise.race([this.#result, this.#asked.promise]);
      const [pending] = this.#questions;
      if (pending === undefined) return { kind: "result", result: result ?? (await this.#result) };
      return { kind: "question", call: this.id, question: pending.question };
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  answer(response: Record<string, unknown>): void {
    this.#questions.shift()?.answer(response);
    if (this.#questions.length === 0) this.#asked = Promise.withResolvers();
  }

  cancel(reason: unknown): void {
    this.#abort.abort(reason);
  }

  #ask(question: Question): Promise<Record<string, unknown>> {
    return new Promise((answer) => {
      this.#questions.push({ question, answer });
      this.#asked.resolve();
    });
  }
}

const PARKED_MS = 10 * 60 * 1000;
const MOST_PARKED = 256;

/** Holds calls that wait for a person's answer, and ends those that wait too long. */
export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>();

  async start(
    signal: AbortSignal,
    run: (ask: Ask, signal: AbortSignal) => Promise<CallResult>,
  ): Promise<ExchangeOutcome> {
    return this.#await(new ParkedCall(run), signal);
  }

  /** Resolves with undefined where the call ended, expired, or ran in another process. */
  async resume(id: string, answer: Record<string, unknown>, signal: AbortSignal): Promise<ExchangeOutcome | undefined> {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    this.#forget(call);
    call.answer(answer);
    return this.#await(call, signal);
  }

  cancelAll(): void {
    for (const call of this.#calls.values()) {
      this.#forget(call);
      call.cancel(new Error("PML is ending"));
    }
  }

  async #await(call: ParkedCall, signal: AbortSignal): Promise<ExchangeOutcome> {
    const outcome = await call.next(signal);
    if (outcome.kind === "question") this.#park(call);
    return outcome;
  }

  #park(call: ParkedCall): void {
    const [oldest] = this.#calls.values();
    if (this.#calls.size >= MOST_PARKED && oldest !== undefined) this.#expire(oldest);
    call.timer = setTimeout(() => this.#expire(call), PARKED_MS).unref();
    this.#calls.set(call.id, call);
  }

  #expire(call: ParkedCall): void {
    this.#forget(call);
    call.cancel(new Error("nobody answered the server's question in time"));
  }

  #forget(call: ParkedCall): void {
    clearTimeout(call.timer);
    this.#calls.delete(call.id);
  }
}
