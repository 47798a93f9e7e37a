/** Admits a bounded number of calls to a server and queues a bounded number behind them. */
export class Gate {
  readonly #limit: number;
  readonly #queueLimit: number;
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number, queueLimit: number) {
    this.#limit = limit;
    this.#queueLimit = queueLimit;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  enter(signal: AbortSignal | undefined): Promise<Disposable> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (this.#inFlight >= this.#limit) return this.#wait(signal).then(() => this.#takePlace());
    this.#inFlight += 1;
    return Promise.resolve(this.#takePlace());
  }

  #takePlace(): Disposable {
    let left = false;
    return {
      [Symbol.dispose]: () => {
        if (!left) this.#leave();
        left = true;
      },
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.length >= this.#queueLimit) {
      return Promise.reject(new QueueFull(this.#limit, this.#queueLimit));
    }
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(go);
    });
  }

  /** Hands a freed place to the next in the queue, so that no other call can take it. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inFlight -= 1;
    else next();
  }
}

export class QueueFull extends Error {
  override readonly name = "QueueFull";

  constructor(limit: number, queued: number) {
    super(
      `The server is busy with ${limit} calls and ${queued} are waiting. Raise upstream.maxInFlight or upstream.maxQueued, or call less at once`,
    );
  }
}
