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
  /** Where what it says beside the protocol goes, and who takes secrets out of that. */
  readonly output?: ServerOutput;
  /** Of a remote server; left out, only the configured headers are sent. */
  readonly auth?: ServerAuth | undefined;
  /** What is known of its protocol from earlier. */
  readonly era?: EraVerdict | undefined;
  /** Told whenever the server was asked what it offers: after connecting and after a change. */
  readonly onOffer: (offer: Offer) => void | Promise<void>;
  /** Told when the server was asked which era it speaks. */
  readonly onEra?: (verdict: EraVerdict) => void;
  readonly onNotification: (method: string, params: unknown) => void;
}
