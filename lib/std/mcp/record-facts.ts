import type { PermissionSet } from "../../../src/permissions/effect.ts";
import type { tools } from "../../../src/contract/tools.ts";
import type { Sent } from "../../../src/contract/wire.ts";
import type { CapabilityRecord, Routing } from "../../../src/registry/record.ts";

type Lookup = Sent<(typeof tools)["dns:lookup"]["answer"]>;
type ServerFacts = Pick<Lookup, "version" | "version_number" | "registry_name" | "code_url" | "server_json">;
type DescribedFacts = Pick<Lookup, "routing"> & Partial<ServerFacts>;

/** Facts about records that the registry does not keep. */
export interface RecordFacts {
  /** Tells where a record runs; of a server also its document and address. */
  readonly describe: (record: CapabilityRecord) => Promise<DescribedFacts>;
  readonly routingOf: (record: CapabilityRecord) => Routing;
  /** Sets where a record runs; undefined goes by its tools. */
  readonly setRouting: (record: CapabilityRecord, routing: Routing | undefined) => Promise<void>;
  /** Reads the tools that the record's version was last allowed to call. */
  readonly permissionsOf: (record: CapabilityRecord) => Promise<PermissionSet>;
  /** Lists the texts of a server's versions by their numbers; empty for any other record. */
  readonly serverTexts: (record: CapabilityRecord) => Promise<ReadonlyMap<number, string>>;
}
