import type { McpServerEntry } from "../config/schema.ts";
import type { Logger } from "../log.ts";
import type { Offer } from "./offer.ts";
import type { ProcessGroups } from "./process-groups.ts";
import type { ServerOutput } from "./server-output.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";

export interface UpstreamOptions {
  readonly name: string;
  readonly entry: McpServerEntry;
  readonly limits: UpstreamLimits;
  readonly groups: ProcessGroups;
  readonly log: Logger;
  /** Where what it says beside the protocol goes, and who takes secrets out of that. */
  readonly output?: ServerOutput;
  /** Told whenever the server was asked what it offers: after connecting and after a change. */
  readonly onOffer: (offer: Offer) => void;
  readonly onNotification: (method: string, params: unknown) => void;
}
