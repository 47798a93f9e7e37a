import { join } from "node:path";
import type { Config } from "../config/load-config.ts";
import { writeTrust } from "../config/hint-trust.ts";
import type { Db } from "../db/client.ts";
import { recordTrust } from "../upstream/offers/review-store.ts";
import type { Upstreams } from "../upstream/upstreams.ts";

/** Stores in the user's configuration whether the hints of a server are believed; returns the file. */
export type TrustHints = (server: string, trust: boolean) => Promise<string>;

export function createTrustHints(config: Config, db: Db, upstreams: Upstreams): TrustHints {
  const file = config.file ?? join(config.home, "pml.json");
  return async (server, trust) => {
    writeTrust(file, server, trust);
    upstreams.trustHints(server, trust);
    await recordTrust(db, config.scope, server, trust);
    return file;
  };
}
