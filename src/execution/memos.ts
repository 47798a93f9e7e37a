import type { Capability } from "../registry/capability.ts";
import { type Asker, OWNER } from "../registry/scope.ts";
import { BoundedMap } from "../base/bounded-map.ts";
import { contentHash } from "../base/content-hash.ts";
import type { Db } from "../db/client.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";

import { findMemo, keepMemo } from "./memo-store.ts";

const MAX_CACHED = 1_000;

/** Caches results of capabilities that opt in and only read, for each principal its own. */
export class Memos {
  readonly #db: Db;
  readonly #inProcess = new BoundedMap<string, { readonly value: JsonValue; readonly until: number }>(MAX_CACHED);

  constructor(db: Db) {
    this.#db = db;
  }

  async find(asker: Asker, capability: Capability, args: JsonObject): Promise<{ value: JsonValue } | undefined> {
    if (capability.cachePolicy === "none") return undefined;
    const argsHash = hashFor(asker, args);
    if (capability.cachePolicy === "persistent") return findMemo(this.#db, asker.scope, { capability, argsHash });
    const kept = this.#inProcess.get(memoKey(asker, capability, argsHash));
    return kept !== undefined && kept.until > Date.now() ? { value: kept.value } : undefined;
  }

  async keep(
    asker: Asker,
    capability: Capability,
    { args, value }: { readonly args: JsonObject; readonly value: JsonValue },
  ): Promise<void> {
    if (capability.cachePolicy === "none") return;
    const argsHash = hashFor(asker, args);
    if (capability.cachePolicy === "persistent")
      return keepMemo(this.#db, asker.scope, { capability, argsHash, value });
    const until = capability.ttlSeconds === undefined ? Infinity : Date.now() + capability.ttlSeconds * 1000;
    this.#inProcess.set(memoKey(asker, capability, argsHash), { value, until });
  }
}

/** Arguments are an object, so that the array of a principal never has the hash of the owner's arguments. */
function hashFor({ principal }: Asker, args: JsonObject): string {
  return contentHash(principal === OWNER ? args : [principal, args]);
}

function memoKey({ scope }: Asker, { id, version }: Capability, argsHash: string): string {
  return `${scope.org} ${id} ${version} ${argsHash}`;
}
