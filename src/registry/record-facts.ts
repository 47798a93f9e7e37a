import type { PermissionSet } from "../permissions/effect.ts";
import type { CapabilityRecord, Routing } from "./record.ts";
import type { ServerFacts } from "./server-records/server-records.ts";

/** Facts about records that the registry does not store. */
export interface RecordFacts {
  /** Tells where a record runs; of a server also its document and address. */
  readonly describe: (record: CapabilityRecord) => Promise<{ readonly routing: Routing } & Partial<ServerFacts>>;
  readonly routingOf: (record: CapabilityRecord) => Routing;
  /** Sets where a record runs; undefined goes by its tools. */
  readonly setRouting: (record: CapabilityRecord, routing: Routing | undefined) => Promise<void>;
  /** Reads the tools that the record's version was last allowed to call. */
  readonly permissionsOf: (record: CapabilityRecord) => Promise<PermissionSet>;
  /** Lists the texts of a server's versions by their numbers; empty for any other record. */
  readonly serverTexts: (record: CapabilityRecord) => Promise<ReadonlyMap<number, string>>;
}
