/** Whether a call may run concurrently, or may ask and therefore has to be the only possible asker. */
export type TurnKind = "shared" | "alone";

export interface Turn extends Disposable {
  /** Called when a question of this call is open; other calls may run meanwhile. */
  pause(): void;
  /** Called with the answer. Resolves when the call is alone again. */
  resume(): Promise<void>;
}

interface KnownTurn extends Turn {
  /** True while it runs concurrently. */
  shared: boolean;
}

interface Waiter {
  readonly turn: KnownTurn;
  readonly kind: TurnKind | "resume";
  readonly go: () => void;
}

/**
 * Schedules calls on a connection whose questions do not name their call. Calls that ask run alone. While such a call waits
 * for its answer others may run; the answer is passed on after they end, so that the call is alone for its next question.
 */
export class Turns {
  /** Number of calls that run concurrently. */
  #sharing = 0;
  #alone: Turn | undefined;
  #openQuestions = 0;
  #waiting: Waiter[] = [];

  /** True if a call that asks would wait for another one. */
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
    // The frequent case: no call has ever asked.
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
    this.#unshare(turn); // a first question comes from a call that runs as shared
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
      // A call whose answer has arrived goes first.
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

  /** Admits calls in order, except that shared calls do not wait behind one that waits for a person. */
  #mayGo({ kind }: Waiter, index: number): boolean {
    if (kind === "resume") return this.#sharing === 0;
    if (kind === "alone") return this.#alone === undefined && this.#sharing === 0;
    const before = this.#waiting.slice(0, index);
    if (this.#alone === undefined) return before.every((waiter) => waiter.kind === "shared");
    return this.#openQuestions > 0 && before.every((waiter) => waiter.kind !== "resume");
  }
}
