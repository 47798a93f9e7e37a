import type { StaticStructure } from "../analysis/structure.ts";
import type { JsonSchema } from "../base/json.ts";
import type { CachePolicy, CapabilitySource, CapabilityState } from "./capability.ts";
import type { HEALTHS, RECORD_TYPES, ROUTINGS, Visibility } from "./record-words.ts";

export type Health = (typeof HEALTHS)[number];

export type Routing = (typeof ROUTINGS)[number];

export type RecordType = (typeof RECORD_TYPES)[number];

/** A registry record with its current version and usage statistics. */
export interface CapabilityRecord {
  readonly id: string;
  readonly recordType: RecordType;
  readonly fqdn: string;
  readonly displayName: string;
  readonly org: string;
  readonly project: string;
  readonly namespace: string;
  readonly action: string;
  readonly hash: string;
  readonly state: CapabilityState;
  readonly health: Health;
  readonly visibility: Visibility;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  readonly routing: Routing | undefined;
  readonly cachePolicy: CachePolicy;
  readonly ttlSeconds: number | undefined;
  readonly verified: boolean;
  readonly signature: string | undefined;
  readonly version: number;
  readonly versionTag: string | undefined;
  readonly source: CapabilitySource | undefined;
  readonly parameters: JsonSchema;
  readonly toolsUsed: readonly string[];
  readonly usageCount: number;
  readonly successCount: number;
  readonly totalLatencyMs: number;
  readonly lastUsedAt: Date | undefined;
  /** Former names and FQDNs that still resolve, names first. */
  readonly aliases: readonly string[];
  readonly parentId: string | undefined;
  /** FQDN of the record it was copied from. */
  readonly forkedFrom: string | undefined;
  /** Name of a principal, or of the agent that had the owner's token; `local` is the owner in person. */
  readonly createdBy: string;
  /** Short name of its creator, for a reader who is somebody else. */
  readonly author: string | undefined;
  readonly createdAt: Date;
  readonly updatedBy: string;
  readonly updatedAt: Date;
  readonly archivedAt: Date | undefined;
}

/** One immutable version of a record. */
export interface CapabilityVersion {
  readonly recordId: string;
  readonly version: number;
  readonly versionTag: string | undefined;
  readonly sourceHash: string;
  /** Undefined for a server record, which PML cannot run. */
  readonly source: CapabilitySource | undefined;
  readonly structure: StaticStructure;
  readonly parameters: JsonSchema;
  readonly toolsUsed: readonly string[];
  readonly changeSummary: string | undefined;
  readonly signature: string | undefined;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** A former name or FQDN. Points at the record, never at another alias. */
export interface CapabilityAlias {
  readonly alias: string;
  readonly kind: "name" | "fqdn";
  readonly recordId: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}
