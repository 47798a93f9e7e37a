import { PmlError } from "../../base/errors.ts";
import type { OwnedKey } from "./result-store.ts";

/** Limits of the results that are kept for one principal; the names of settings under `results`. */
export interface KeptLimits {
  readonly maxKept: number;
  readonly maxKeptBytes: number;
}

interface Entry {
  readonly key: OwnedKey;
  readonly bytes: number;
  readonly until: number;
}

/** Counts the results that this process keeps for each principal, so that none can fill the database with them. */
export class KeptLedger {
  readonly #limits: KeptLimits;
  readonly #entries = new Map<string | undefined, Entry[]>();

  constructor(limits: KeptLimits) {
    this.#limits = limits;
  }

  /** Enters a result and returns those that have to go for it, the oldest first; throws if it is too large alone. */
  enter(key: OwnedKey, bytes: number, until: Date): OwnedKey[] {
    const { maxKept, maxKeptBytes } = this.#limits;
    if (bytes > maxKeptBytes)
      throw new PmlError("limit_exceeded", `it has ${bytes} bytes, more than ${maxKeptBytes} (results.maxKeptBytes)`);
    const now = Date.now();
    const known = (this.#entries.get(key.principal) ?? []).filter((entry) => entry.until > now);
    const kept = [...known, { key, bytes, until: until.getTime() }];
    let total = kept.reduce((sum, entry) => sum + entry.bytes, 0);
    let dropped = 0;
    while (kept.length - dropped > maxKept || total > maxKeptBytes) {
      total -= kept[dropped]?.bytes ?? 0;
      dropped += 1;
    }
    this.#entries.set(key.principal, kept.slice(dropped));
    return kept.slice(0, dropped).map((entry) => entry.key);
  }
}
