import { join } from "node:path";
import { contentHash } from "../base/content-hash.ts";
import { PmlError } from "../base/errors.ts";
import type { Config } from "../config/load-config.ts";
import { type ConfirmedReads, writeTrust } from "../config/hint-trust.ts";
import type { Db } from "../db/client.ts";
import { seemsToRead } from "../permissions/read-like.ts";
import { recordTrust } from "../upstream/offers/review-store.ts";
import type { Upstreams } from "../upstream/upstreams.ts";

interface Belief {
  readonly trust: boolean;
  /** Tools without hints that a person confirmed to only read. */
  readonly reads?: ConfirmedReads | undefined;
}

/** Stores in the user's configuration whether the hints of a server are believed; returns the file. */
export type TrustHints = (server: string, belief: Belief) => Promise<string>;

export function createTrustHints(config: Config, db: Db, upstreams: Upstreams): TrustHints {
  const file = config.file ?? join(config.home, "pml.json");
  return async (server, { trust, reads = {} }) => {
    const offered = upstreams.known.find(({ name }) => name === server)?.offer?.tools ?? [];
    for (const [name, hash] of Object.entries(reads)) {
      const tool = offered.find((each) => each.name === name);
      if (tool === undefined || contentHash(tool) !== hash || !seemsToRead(tool)) throw changedMeanwhile(server, name);
    }
    writeTrust(file, server, { trust, reads });
    upstreams.trustHints(server, { trustHints: trust, reads: trust ? reads : {} });
    await recordTrust(db, config.scope, { server, trust, reads: Object.keys(reads) });
    return file;
  };
}

function changedMeanwhile(server: string, tool: string): PmlError {
  return new PmlError("review_not_found", `The definition of ${server}:${tool} is not the one that was shown`, {
    hint: `Look again: pml hints ${server}`,
  });
}
