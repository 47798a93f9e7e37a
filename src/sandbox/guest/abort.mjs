// @ts-check

/** @typedef {(event: { type: string, target: unknown }) => void} Listener */

/** Lets only the creator of a signal abort it. */
const abortKey = Symbol("abort");

export class AbortSignal {
  aborted = false;
  /** @type {unknown} */
  reason = undefined;
  /** @type {Listener | null} */
  onabort = null;
  /** @type {Set<Listener>} */
  #listeners = new Set();

  /** @param {unknown} [reason] */
  static abort(reason = abortError()) {
    const signal = new AbortSignal();
    signal[abortKey](reason);
    return signal;
  }

  /** @param {Iterable<AbortSignal>} signals */
  static any(signals) {
    const joined = new AbortSignal();
    for (const signal of signals) {
      if (signal.aborted) joined[abortKey](signal.reason);
      else signal.addEventListener("abort", () => joined[abortKey](signal.reason));
    }
    return joined;
  }

  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }

  /** A signal aborts only once, so `once` makes no difference. @param {string} type @param {Listener} listener */
  addEventListener(type, listener) {
    if (type === "abort") this.#listeners.add(listener);
  }

  /** @param {string} type @param {Listener} listener */
  removeEventListener(type, listener) {
    if (type === "abort") this.#listeners.delete(listener);
  }

  /** @param {unknown} reason */
  [abortKey](reason) {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const event = { type: "abort", target: this };
    this.onabort?.(event);
    for (const listener of this.#listeners) listener.call(this, event);
    this.#listeners.clear();
  }
}

export class AbortController {
  signal = new AbortSignal();

  /** @param {unknown} [reason] */
  abort(reason = abortError()) {
    this.signal[abortKey](reason);
  }
}

/** `AbortSignal.timeout`. @param {(ms: number) => Promise<unknown>} sleep */
export function createTimeout(sleep) {
  return (/** @type {number} */ ms) => {
    const signal = new AbortSignal();
    const late = namedError("TimeoutError", "The operation was aborted due to timeout");
    void sleep(ms).then(() => signal[abortKey](late));
    return signal;
  };
}

function abortError() {
  return namedError("AbortError", "This operation was aborted");
}

/** @param {string} name @param {string} message */
function namedError(name, message) {
  const error = new Error(message);
  error.name = name;
  return error;
}
