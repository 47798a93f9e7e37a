import type { McpServerEntry } from "../config/schema.ts";
import type { Logger } from "../base/log.ts";
import type { EraVerdict } from "./connection/era-verdict.ts";
import type { ServerAuth } from "./oauth/server-auth.ts";
import type { Offer } from "./offers/offer.ts";
import type { ProcessGroups } from "./connection/process-groups.ts";
import type { ServerOutput } from "./connection/server-output.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";

export interface UpstreamOptions {
  readonly name: string;
  readonly entry: McpServerEntry;
  readonly limits: UpstreamLimits;
  readonly groups: ProcessGroups;
  readonly log: Logger;
  /** Receives stderr and redacts secrets in it. */
  readonly output?: ServerOutput;
  /** Authentication of a remote server; undefined if only the configured headers are sent. */
  readonly auth?: ServerAuth | undefined;
  /** Stored verdict on the era. */
  readonly era?: EraVerdict | undefined;
  /** Called with every offer read: after connecting and after changes. */
  readonly onOffer: (offer: Offer) => void | Promise<void>;
  /** Called with a new verdict on the era. */
  readonly onEra?: (verdict: EraVerdict) => void;
  readonly onNotification: (method: string, params: unknown) => void;
}
