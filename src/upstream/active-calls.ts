import { ProtocolError } from "@modelcontextprotocol/client";
import type { Gate } from "./gate.ts";

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

const INVALID_REQUEST = -32_600;

/**
 * A server of the 2025 era does not say which call its question belongs to. With one call under way
 * there is no doubt. With several there is: the question is refused, and from then on that server
 * gets its calls one by one.
 */
export class ActiveCalls {
  readonly #server: string;
  readonly #gate: Gate;
  readonly #calls = new Map<ActiveCall, Listener>();

  constructor(server: string, gate: Gate) {
    this.#server = server;
    this.#gate = gate;
  }

  begin(listener: Listener): ActiveCall {
    const call: ActiveCall = { question: undefined, [Symbol.dispose]: () => void this.#calls.delete(call) };
    this.#calls.set(call, listener);
    return call;
  }

  async ask(question: Question): Promise<Record<string, unknown>> {
    this.#gate.narrow();
    const [only, ...others] = [...this.#calls];
    if (only === undefined)
      throw new ProtocolError(INVALID_REQUEST, `${this.#server} asked something while no call was under way`);
    if (others.length > 0) {
      throw new ProtocolError(
        INVALID_REQUEST,
        `PML cannot tell which of ${others.length + 1} calls this question belongs to; from now on calls to ${this.#server} are made one by one`,
      );
    }
    const [call, { ask }] = only;
    if (ask === undefined)
      throw new ProtocolError(INVALID_REQUEST, `Whoever called ${this.#server} cannot answer ${question.method}`);
    call.question = question.method;
    return ask(question);
  }

  /** Nor does a log message say where it belongs: only with one call under way may its client see it. */
  log(message: Record<string, unknown>): void {
    const [only, ...others] = this.#calls.values();
    if (others.length === 0) only?.onLog?.(message);
  }
}
