import type { PermissionSet } from "../../../src/permissions/effect.ts";
import type { CapabilityRecord, Routing } from "../../../src/registry/record.ts";

/** What is known about records besides what the registry keeps. */
export interface RecordFacts {
  /** Where it runs, and of a server what it is and where it can be fetched. */
  readonly describe: (record: CapabilityRecord) => Promise<Readonly<Record<string, unknown>>>;
  readonly routingOf: (record: CapabilityRecord) => Routing;
  /** undefined: as its tools say. */
  readonly setRouting: (record: CapabilityRecord, routing: Routing | undefined) => Promise<void>;
  /** The tools that its version was last allowed to call. */
  readonly permissionsOf: (record: CapabilityRecord) => Promise<PermissionSet>;
  /** Texts of the versions of a server by their numbers; empty for anything else. */
  readonly serverTexts: (record: CapabilityRecord) => Promise<ReadonlyMap<number, string>>;
}
