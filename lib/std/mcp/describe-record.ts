import type { recordBrief } from "../../../src/contract/records.ts";
import type { tools } from "../../../src/contract/tools.ts";
import type { Sent } from "../../../src/contract/wire.ts";
import { getCapabilityCode } from "../../../src/registry/capability.ts";
import type { CapabilityRecord, CapabilityVersion } from "../../../src/registry/record.ts";

type Brief = Sent<typeof recordBrief>;
type Whois = Sent<(typeof tools)["dns:whois"]["answer"]>;
type Versions = Extract<Sent<(typeof tools)["dns:history"]["answer"]>, { readonly versions: unknown }>;

/** Describes the record behind a name in a few words. */
export function describeBriefly(record: CapabilityRecord): Brief {
  return {
    type: record.recordType,
    id: record.id,
    fqdn: record.fqdn,
    display_name: record.displayName,
    ...(record.author === undefined ? {} : { author: record.author }),
    description: record.description ?? "",
    version: record.version,
    version_tag: record.versionTag ?? null,
    visibility: record.visibility,
    state: record.state,
    health: record.health,
    routing: record.routing ?? null,
    tags: record.tags,
    ...describeUse(record),
  };
}

type Stored = Omit<Whois, "routing" | "permission_set"> & Pick<Brief, "routing">;

/** Describes a record as the registry keeps it. */
export function describeRecord(record: CapabilityRecord): Stored {
  return {
    ...describeBriefly(record),
    org: record.org,
    project: record.project,
    namespace: record.namespace,
    action: record.action,
    hash: record.hash,
    created_by: record.createdBy,
    created_at: record.createdAt.toISOString(),
    updated_by: record.updatedBy,
    updated_at: record.updatedAt.toISOString(),
    archived_at: record.archivedAt?.toISOString() ?? null,
    ttl: record.ttlSeconds ?? null,
    cache_policy: record.cachePolicy,
    parent_id: record.parentId ?? null,
    forked_from: record.forkedFrom ?? null,
    aliases: record.aliases,
    verified: record.verified,
    signature: record.signature ?? null,
    success_count: record.successCount,
    total_latency_ms: record.totalLatencyMs,
    last_used_at: record.lastUsedAt?.toISOString() ?? null,
    tools_used: record.toolsUsed,
    parameters_schema: record.parameters,
    source: record.source ?? null,
    code_snippet: codeOf(record),
  };
}

export function describeVersion(version: CapabilityVersion): Omit<Versions["versions"][number], "diff"> {
  const { source } = version;
  return {
    version: version.version,
    version_tag: version.versionTag ?? null,
    change_summary: version.changeSummary ?? null,
    updated_by: version.createdBy,
    updated_at: version.createdAt.toISOString(),
    source_hash: version.sourceHash,
    signature: version.signature ?? null,
    tools_used: version.toolsUsed,
    parameters_schema: version.parameters,
    code_snippet: codeOf(version),
    ...(source === undefined || source.type === "code" ? {} : { source }),
  };
}

/** A record of a server has no source. */
function codeOf({ source }: Pick<CapabilityVersion, "source">): string | null {
  return source === undefined ? null : getCapabilityCode({ source });
}

type Use = Pick<Brief, "usage_count" | "success_rate" | "avg_latency_ms">;

function describeUse({ usageCount, successCount, totalLatencyMs }: CapabilityRecord): Use {
  return {
    usage_count: usageCount,
    success_rate: usageCount === 0 ? 0 : successCount / usageCount,
    avg_latency_ms: usageCount === 0 ? 0 : totalLatencyMs / usageCount,
  };
}
