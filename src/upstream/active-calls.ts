import { ProtocolError } from "@modelcontextprotocol/client";
import type { Turn } from "./turns.ts";

/** A question of a server during a call: an elicitation or a sampling request. */
export interface Question {
  readonly method: string;
  readonly params?: Record<string, unknown> | undefined;
}

export type Ask = (question: Question) => Promise<Record<string, unknown>>;

/** The caller, as far as the server can address it. */
export interface Listener {
  /** Puts a question of the server to the caller. */
  readonly ask?: Ask;
  /** Receives log messages of the server. */
  readonly onLog?: (message: Record<string, unknown>) => void;
}

export interface ActiveCall extends Disposable {
  /** The server's question during this call, for error messages. */
  question: string | undefined;
}

interface NewCall {
  readonly listener: Listener;
  /** Method and target; later calls of the same subject may ask again. */
  readonly subject: string;
  readonly turn: Turn;
}

const INVALID_REQUEST = -32_600;

/**
 * Assigns questions of a server of the 2025 era to calls: such a question does not name its call. With one call under way it
 * is clear. With several the question is refused, and their subjects are called alone from then on.
 */
export class ActiveCalls {
  readonly #server: string;
  readonly #askers: Set<string>;
  readonly #calls = new Map<ActiveCall, NewCall>();

  /** `askers` are the subjects whose calls have asked, or may have asked. */
  constructor(server: string, askers: Set<string>) {
    this.#server = server;
    this.#askers = askers;
  }

  begin(made: NewCall): ActiveCall {
    const call: ActiveCall = { question: undefined, [Symbol.dispose]: () => void this.#calls.delete(call) };
    this.#calls.set(call, made);
    return call;
  }

  async ask(question: Question): Promise<Record<string, unknown>> {
    for (const { subject } of this.#calls.values()) this.#askers.add(subject);
    const [only, ...others] = this.#calls.entries();
    if (only === undefined)
      throw new ProtocolError(INVALID_REQUEST, `${this.#server} asked something while no call was under way`);
    if (others.length > 0) {
      throw new ProtocolError(
        INVALID_REQUEST,
        `PML cannot tell which of ${others.length + 1} calls this question belongs to; from now on these are made one by one`,
      );
    }
    const [call, { listener, turn }] = only;
    if (listener.ask === undefined)
      throw new ProtocolError(INVALID_REQUEST, `Whoever called ${this.#server} cannot answer ${question.method}`);
    call.question = question.method;
    turn.pause();
    const answer = await listener.ask(question);
    await turn.resume();
    return answer;
  }

  /** Passes a log message on only with one call under way: it does not name its call. */
  log(message: Record<string, unknown>): void {
    const [only, ...others] = this.#calls.values();
    if (others.length === 0) only?.listener.onLog?.(message);
  }
}
