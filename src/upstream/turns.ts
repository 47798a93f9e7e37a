/** Whether a call may run beside others, or asks and so must be the only one that could have asked. */
export type TurnKind = "shared" | "alone";

export interface Turn extends Disposable {
  /** A question of this call is open. It has to be the only call under way that has none. */
  pause(): void;
  /** The answer is there. Resolves when the call is alone again. */
  resume(): Promise<void>;
}

interface KnownTurn extends Turn {
  /** Whether it runs beside others now. */
  shared: boolean;
}

interface Waiter {
  readonly turn: KnownTurn;
  readonly kind: TurnKind | "resume";
  readonly go: () => void;
}

/**
 * Who may use a connection on which a question does not say which call it belongs to. Calls that ask
 * run alone. While such a call waits for its answer others may run; the answer is passed on when they
 * are done, so that the call is alone again when it could ask the next time.
 */
export class Turns {
  /** How many run beside each other. */
  #sharing = 0;
  #alone: Turn | undefined;
  #openQuestions = 0;
  #waiting: Waiter[] = [];

  /** Whether a call that asks would have to wait for another one that does. */
  get taken(): boolean {
    return this.#alone !== undefined || this.#waiting.some(({ kind }) => kind === "alone");
  }

  begin(kind: TurnKind, signal: AbortSignal | undefined): Promise<Turn> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const turn: KnownTurn = {
      shared: false,
      pause: () => this.#pause(turn),
      resume: () => this.#wait(turn, "resume", undefined),
      [Symbol.dispose]: () => this.#end(turn),
    };
    // The frequent case: nobody has ever asked anything.
    if (kind !== "shared" || this.#alone !== undefined || this.#waiting.length > 0)
      return this.#wait(turn, kind, signal).then(() => turn);
    this.#share(turn);
    return Promise.resolve(turn);
  }

  #share(turn: KnownTurn): void {
    turn.shared = true;
    this.#sharing += 1;
  }

  #unshare(turn: KnownTurn): void {
    if (turn.shared) this.#sharing -= 1;
    turn.shared = false;
  }

  #pause(turn: KnownTurn): void {
    this.#unshare(turn); // one that asks for the first time was not known to
    this.#alone = turn;
    this.#openQuestions += 1;
    this.#admit();
  }

  #end(turn: KnownTurn): void {
    this.#unshare(turn);
    if (this.#alone === turn) {
      this.#alone = undefined;
      this.#openQuestions = 0;
    }
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter((waiter) => waiter.turn !== turn);
    this.#admit();
  }

  #wait(turn: KnownTurn, kind: Waiter["kind"], signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#end(turn);
        reject(signal?.reason as Error);
      };
      const go = (): void => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      // Nobody is let in before a call whose answer is there.
      if (kind === "resume") this.#waiting.unshift({ turn, kind, go });
      else this.#waiting.push({ turn, kind, go });
      this.#admit();
    });
  }

  #admit(): void {
    const next = this.#waiting.find((waiter, index) => this.#mayGo(waiter, index));
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((waiter) => waiter !== next);
    if (next.kind === "shared") this.#share(next.turn);
    else if (next.kind === "alone") this.#alone = next.turn;
    else this.#openQuestions -= 1;
    next.go();
    this.#admit();
  }

  /** In order, but calls that may run beside others do not wait behind one that waits for a person. */
  #mayGo({ kind }: Waiter, index: number): boolean {
    if (kind === "resume") return this.#sharing === 0;
    if (kind === "alone") return this.#alone === undefined && this.#sharing === 0;
    const before = this.#waiting.slice(0, index);
    if (this.#alone === undefined) return before.every((waiter) => waiter.kind === "shared");
    return this.#openQuestions > 0 && before.every((waiter) => waiter.kind !== "resume");
  }
}
