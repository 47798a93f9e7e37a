import type { CallAnswer, GuestCall, GuestError, RunHost, RunLimits } from "../execution/worker-bridge.ts";
import type { AnswerMessage } from "./guest/protocol.ts";
import { isTooDeep } from "./guest-messages.ts";
import { describeLimit } from "./limit-errors.ts";

export interface CallTableOptions {
  readonly host: Pick<RunHost, "call">;
  readonly limits: RunLimits;
  readonly startedAt: number;
  /** Sends an answer to the guest. */
  send(answer: string): void;
  /** Reports an error of the host, not of the program. */
  fail(error: unknown): void;
}

/** The calls of one run: running, queued, and their answers to the guest. */
export class CallTable {
  readonly #options: CallTableOptions;
  readonly #queued: GuestCall[] = [];
  #made = 0;
  #answered = 0;
  #inFlight = 0;
  #isClosed = false;
  #clock: number;

  constructor(options: CallTableOptions) {
    this.#options = options;
    this.#clock = options.startedAt;
  }

  get made(): number {
    return this.#made;
  }

  get isWaiting(): boolean {
    return this.#made > this.#answered;
  }

  /** Accepts a call. A guest numbers its calls in order, so any other number is forged. */
  take(call: GuestCall, line: string): void {
    this.#made += 1;
    if (call.id !== this.#made) throw new Error(`call ${call.id} instead of ${this.#made}`);
    const { maxParallelCalls } = this.#options.limits;
    if (isTooDeep(line, call.args)) this.#refuse(call, "RangeError", "the arguments are nested too deep");
    else if (call.kind !== "sleep" && this.#inFlight >= maxParallelCalls) this.#queued.push(call);
    else this.#issue(call);
  }

  /** Drops queued calls and all later answers. */
  close(): void {
    this.#isClosed = true;
    this.#queued.length = 0;
  }

  #issue(call: GuestCall): void {
    // A sleeping call takes no slot.
    const weight = call.kind === "sleep" ? 0 : 1;
    this.#inFlight += weight;
    this.#options.host.call(call).then(
      (answer) => {
        this.#inFlight -= weight;
        this.#answer(call, answer);
        const next = this.#inFlight < this.#options.limits.maxParallelCalls ? this.#queued.shift() : undefined;
        if (next !== undefined) this.#issue(next);
      },
      (error: unknown) => this.#options.fail(error),
    );
  }

  #refuse(call: GuestCall, name: string, message: string): void {
    this.#answer(call, { clock: this.#clock, ok: false, error: { name, message } });
  }

  #answer({ id }: GuestCall, answer: CallAnswer): void {
    if (this.#isClosed) return;
    this.#answered += 1;
    this.#clock = answer.clock;
    this.#options.send(encodeAnswer(id, answer, this.#options.limits));
  }
}

function encodeAnswer(id: number, answer: CallAnswer, limits: RunLimits): string {
  const { clock } = answer;
  const failure = (error: GuestError): string => JSON.stringify([id, clock, false, error] satisfies AnswerMessage);
  try {
    const text = answer.ok
      ? JSON.stringify([id, clock, true, answer.value] satisfies AnswerMessage)
      : failure(answer.error);
    const bytes = Buffer.byteLength(text);
    if (bytes <= limits.maxToolResultBytes) return text;
    const message = describeLimit("maxToolResultBytes", limits, bytes);
    return failure({ name: "RangeError", message, code: "limit_exceeded" });
  } catch (error) {
    // A tool may return a value nested too deep to serialise.
    return failure({ name: "RangeError", message: `The result cannot be serialised: ${String(error)}` });
  }
}
