import type { JsonSchema, JsonValue } from "../base/json.ts";
import type { CachePolicy, CapabilitySource, CapabilityState } from "./capability.ts";

export const VISIBILITIES = ["private", "project", "org", "public"] as const;
/** Who sees a record besides its creator: nobody, its project, its organisation, everybody. */
export type Visibility = (typeof VISIBILITIES)[number];

export const HEALTHS = ["pending", "green", "red", "flaky", "rejected"] as const;
export type Health = (typeof HEALTHS)[number];

export const ROUTINGS = ["local", "cloud"] as const;
export type Routing = (typeof ROUTINGS)[number];

export type RecordType = "capability" | "mcp-server";

/** The entry under a name, with its current version and what it was used for. */
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
  /** Former names that still work, names first. */
  readonly aliases: readonly string[];
  readonly parentId: string | undefined;
  /** The FQDN it was copied from. */
  readonly forkedFrom: string | undefined;
  /** Names of principals; `local` is the owner. */
  readonly createdBy: string;
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
  /** undefined: a record without anything that PML could run. */
  readonly source: CapabilitySource | undefined;
  readonly structure: JsonValue;
  readonly parameters: JsonSchema;
  readonly toolsUsed: readonly string[];
  readonly changeSummary: string | undefined;
  readonly signature: string | undefined;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** A former name or FQDN. It points at the record, never at another alias. */
export interface CapabilityAlias {
  readonly alias: string;
  readonly kind: "name" | "fqdn";
  readonly recordId: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}
