import { ProtocolError } from "@modelcontextprotocol/server";
import type { ConfigValues } from "../../config/schema.ts";

export type LimitSettings = ConfigValues["limits"];
/** The configuration key by which a limit is known: to whoever meets it, and in the metrics. */
export type LimitKey = `limits.${keyof LimitSettings}` | "http.maxBodyBytes";

/** Of the range that the protocol leaves to implementations. */
const SERVER_ERROR = -32_000;

/** Thrown by a handler it is a JSON-RPC error; the HTTP edge makes a status of it. */
export class LimitReached extends ProtocolError {
  readonly key: LimitKey;
  /** When to try again, where that is known. */
  readonly retrySeconds: number | undefined;

  constructor(key: LimitKey, value: number, { what, retrySeconds }: { what: string; retrySeconds?: number }) {
    super(SERVER_ERROR, `${what}. The limit is ${key} (${value})`, { limit: key, value });
    this.key = key;
    this.retrySeconds = retrySeconds;
  }
}

/** Places of which only so many may be taken. */
export class Quota {
  readonly #most: number;
  readonly #refuse: () => LimitReached;
  #taken = 0;

  constructor(most: number, refuse: () => LimitReached) {
    this.#most = most;
    this.#refuse = refuse;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Throws LimitReached when all places are taken. */
  take(places = 1): Disposable {
    if (this.#taken + places > this.#most) throw this.#refuse();
    this.#taken += places;
    return new Place(places, this.#giveBack);
  }

  readonly #giveBack = (places: number): void => {
    this.#taken -= places;
  };
}

/** An object without closures of its own: each request takes three. */
class Place implements Disposable {
  #places: number;
  readonly #giveBack: (places: number) => void;

  constructor(places: number, giveBack: (places: number) => void) {
    this.#places = places;
    this.#giveBack = giveBack;
  }

  [Symbol.dispose](): void {
    this.#giveBack(this.#places);
    this.#places = 0;
  }
}

/** A bucket that holds a minute's worth of requests and fills up steadily. */
export class RateLimit {
  readonly #perMinute: number;
  #left: number;
  #at: number;

  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
    this.#at = now;
  }

  /** undefined: the request may be made. Otherwise how many milliseconds later it could. */
  take(now: number): number | undefined {
    this.#left = Math.min(this.#perMinute, this.#left + ((now - this.#at) / MINUTE_MS) * this.#perMinute);
    this.#at = now;
    if (this.#left < 1) return ((1 - this.#left) / this.#perMinute) * MINUTE_MS;
    this.#left -= 1;
    return undefined;
  }

  isFull(now: number): boolean {
    return this.#left + ((now - this.#at) / MINUTE_MS) * this.#perMinute >= this.#perMinute;
  }
}

const MINUTE_MS = 60_000;
