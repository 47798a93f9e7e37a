import type { z } from "zod";
import type { JsonSchema } from "../base/json.ts";
import type { publishedCapability } from "../contract/published.ts";
import type { CapabilityRecord, CapabilityVersion } from "./record.ts";

export type Published = z.output<typeof publishedCapability>;

/** Returns undefined for DAGs and tools: they need the servers of their own gateway. */
export function toPublished(record: CapabilityRecord, version: CapabilityVersion): Published | undefined {
  const { source } = version;
  if (source?.type !== "code") return undefined;
  return {
    format: "pml-capability-1",
    fqdn: record.fqdn,
    display_name: record.displayName,
    description: record.description ?? null,
    tags: [...record.tags],
    version: version.version,
    version_tag: version.versionTag ?? null,
    code: source.code,
    source_hash: version.sourceHash,
    parameters_schema: version.parameters as JsonSchema & Published["parameters_schema"],
    tools_used: [...version.toolsUsed],
    signature: version.signature ?? null,
  };
}
