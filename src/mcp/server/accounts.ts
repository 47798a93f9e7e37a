import type { Principal } from "../../auth/principal.ts";
import { type LimitKey, LimitReached, type LimitSettings, Quota, RateLimit } from "./principal-limits.ts";

type QuotaName = Exclude<keyof LimitSettings, "requestsPerMinute">;

const MEANING: Record<QuotaName, string> = {
  concurrentRequests: "Too many requests are under way at once",
  sessions: "Too many sessions are open",
  streams: "Too many streams are open",
  subscriptions: "Too many resources are watched",
};

/** The requests and streams that one principal has open over HTTP. */
export interface Account {
  /**
   * Requests that wait for their answer. Cancelling one, or answering its question, takes no place, because it frees
   * one.
   */
  readonly requests: Quota;
  readonly sessions: Quota;
  readonly streams: Quota;
  /** Admits a request and holds a place while it is read. Throws LimitReached. */
  admit(): Disposable;
}

interface KnownAccount extends Account {
  isIdle(): boolean;
}

export interface AccountsOptions {
  readonly limits: LimitSettings;
  readonly onReached: (key: LimitKey) => void;
  readonly now?: () => number;
}

/** Beyond this number, accounts with nothing open are dropped. */
const KEPT_ACCOUNTS = 1_000;
/** The owner's clients together may have this many times the sessions of one. */
const OWNERS_CLIENTS = 10;
const LONGEST_NAME = 200;

/** Holds callers to the configured limits and counts refusals. */
export class Accounts {
  readonly #limits: LimitSettings;
  readonly #onReached: (key: LimitKey) => void;
  readonly #now: () => number;
  readonly #accounts = new Map<string, KnownAccount>();
  /** Sessions of the owner's clients, by the name each gives itself. */
  readonly #clients = new Map<string, Quota>();

  constructor({ limits, onReached, now = () => performance.now() }: AccountsOptions) {
    this.#limits = limits;
    this.#onReached = onReached;
    this.#now = now;
  }

  of(principal: Principal | undefined): Account {
    const key = principal?.id ?? "";
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    if (this.#accounts.size >= KEPT_ACCOUNTS) this.#forgetIdle();
    const account = this.#open(principal === undefined ? undefined : this.#limits.requestsPerMinute);
    this.#accounts.set(key, account);
    return account;
  }

  /**
   * Takes a session's place. The owner's token is shared by several clients, so each of them has the limit for itself, by
   * the name it gives; all names together have some times as much.
   */
  takeSession(principal: Principal | undefined, client: string): Disposable {
    if (principal !== undefined) return this.of(principal).sessions.take();
    const all = this.of(undefined).sessions.take();
    try {
      const own = this.#sessionsOf(client.slice(0, LONGEST_NAME)).take();
      return { [Symbol.dispose]: () => [own, all].forEach((place) => place[Symbol.dispose]()) };
    } catch (error) {
      all[Symbol.dispose]();
      throw error;
    }
  }

  #sessionsOf(client: string): Quota {
    const quota = this.#clients.get(client) ?? this.quota("sessions");
    for (const [name, { taken }] of this.#clients) if (taken === 0) this.#clients.delete(name);
    this.#clients.set(client, quota);
    return quota;
  }

  /** Creates a quota of a connection, as opposed to a principal. */
  quota(name: QuotaName, times = 1): Quota {
    const most = this.#limits[name] * times;
    const retry = name === "concurrentRequests" ? { retrySeconds: 1 } : {};
    return new Quota(most, () => this.refuse(`limits.${name}`, most, { what: MEANING[name], ...retry }));
  }

  refuse(key: LimitKey, value: number, details: { what: string; retrySeconds?: number }): LimitReached {
    this.#onReached(key);
    return new LimitReached(key, value, details);
  }

  count(kind: "sessions" | "streams"): number {
    return [...this.#accounts.values()].reduce((sum, account) => sum + account[kind].taken, 0);
  }

  #open(perMinute: number | undefined): KnownAccount {
    const rate = perMinute === undefined ? undefined : new RateLimit(perMinute, this.#now());
    const reading = this.quota("concurrentRequests");
    const requests = this.quota("concurrentRequests");
    const sessions = this.quota("sessions", perMinute === undefined ? OWNERS_CLIENTS : 1);
    const streams = this.quota("streams");
    return {
      requests,
      sessions,
      streams,
      admit: () => {
        const waitMs = rate?.take(this.#now());
        if (waitMs !== undefined) throw this.#tooFast(waitMs);
        return reading.take();
      },
      isIdle: () =>
        [reading, requests, sessions, streams].every(({ taken }) => taken === 0) &&
        (rate === undefined || rate.isFull(this.#now())),
    };
  }

  #tooFast(waitMs: number): LimitReached {
    const retrySeconds = Math.ceil(waitMs / 1000);
    const what = `Too many requests; the next one can be made in ${retrySeconds} s`;
    return this.refuse("limits.requestsPerMinute", this.#limits.requestsPerMinute, { what, retrySeconds });
  }

  #forgetIdle(): void {
    for (const [key, account] of this.#accounts) if (account.isIdle()) this.#accounts.delete(key);
  }
}
