import { ProtocolError } from "@modelcontextprotocol/server";
import type { ConfigValues } from "../../config/schema.ts";

/** Limits of requests and connections; the registry keeps that of records. */
export type LimitSettings = Omit<ConfigValues["limits"], "capabilities">;
/** The configuration key that names a limit in errors and metrics. */
export type LimitKey = `limits.${keyof LimitSettings}` | "http.maxBodyBytes";

/** From the range that the protocol leaves to implementations. */
const SERVER_ERROR = -32_000;

/** Becomes a JSON-RPC error in a handler, and a status at the HTTP edge. */
export class LimitReached extends ProtocolError {
  readonly key: LimitKey;
  /** Seconds until a retry can succeed, where that is known. */
  readonly retrySeconds: number | undefined;

  constructor(key: LimitKey, value: number, { what, retrySeconds }: { what: string; retrySeconds?: number }) {
    super(SERVER_ERROR, `${what}. The limit is ${key} (${value})`, { limit: key, value });
    this.key = key;
    this.retrySeconds = retrySeconds;
  }
}

/** A counting semaphore that refuses instead of waiting. */
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
    return new TakenPlaces(places, this.#giveBack);
  }

  readonly #giveBack = (places: number): void => {
    this.#taken -= places;
  };
}

/** An object without closures: each request creates three. */
class TakenPlaces implements Disposable {
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

/** A token bucket that holds a minute's worth of requests. */
export class RateLimit {
  readonly #perMinute: number;
  #left: number;
  #at: number;

  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
    this.#at = now;
  }

  /** Returns undefined where the request may be made, otherwise the milliseconds until it may. */
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
