import { ProtocolError } from "@modelcontextprotocol/client";
import type { Turn } from "./turns.ts";

/** A question of a server, in the middle of a call: an elicitation or a sampling request. */
export interface Question {
  readonly method: string;
  readonly params?: Record<string, unknown> | undefined;
}

export type Ask = (question: Question) => Promise<Record<string, unknown>>;

/** Whom a call is made for, as far as its server can address them. */
export interface Listener {
  /** Puts a question of the server to whoever made this request. */
  readonly ask?: Ask;
  /** Hears what the server logs meanwhile. */
  readonly onLog?: (message: Record<string, unknown>) => void;
}

export interface ActiveCall extends Disposable {
  /** What the server has asked during this call, for messages. */
  question: string | undefined;
}

interface NewCall {
  readonly listener: Listener;
  /** What is called; the next call of the same may ask again. */
  readonly subject: string;
  readonly turn: Turn;
}

const INVALID_REQUEST = -32_600;

/**
 * A server of the 2025 era does not say which call its question belongs to. With one call under way on
 * the connection there is no doubt. With several there is: the question is refused, and what was called
 * then is called alone from now on.
 */
export class ActiveCalls {
  readonly #server: string;
  readonly #askers: Set<string>;
  readonly #calls = new Map<ActiveCall, NewCall>();

  /** `askers` are the subjects whose calls have asked, or may have. */
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

  /** Nor does a log message say where it belongs: only with one call under way may its client see it. */
  log(message: Record<string, unknown>): void {
    const [only, ...others] = this.#calls.values();
    if (others.length === 0) only?.listener.onLog?.(message);
  }
}
